// How does my own profile take part in a search? The browser remembers, finds its group, and adds only the group's id.
import * as memory from "./memory.js";
import { countWords, downloadProfiles, nearest } from "./nearest.js";

export function startGroup() {
  const form = document.querySelector("form[data-search] [name=q]")?.form;
  if (!form || !memory.isOn()) return;
  const asked = new URLSearchParams(location.search);
  if (asked.has("user")) return;
  if (location.pathname === "/search") memory.addSearch(asked.get("q"));
  document.addEventListener("click", (event) => remember(event.target), true);
  document.addEventListener("auxclick", (event) => remember(event.target), true);
  memory.tellsGroup() ? prepare(form) : rankHere(form);
}

// Where no group is told, the server gets the words alone, and no example of somebody else is wanted.
function rankHere(form) {
  setField(form, "mine", "1");
  const note = document.querySelector("[data-mine]");
  note.hidden = false;
  note.replaceChildren("Your browser profile is on: it ranks in this browser, and nothing of it is sent. ", link("See what is stored."));
}

function link(text) {
  return Object.assign(document.createElement("a"), { href: "/mine", textContent: text });
}

function remember(target) {
  const followed = target.closest("a");
  if (!followed) return;
  if (followed.closest(".result h3")) memory.addOpened(followed.textContent.trim());
  const address = new URL(followed.href);
  const searching = address.origin === location.origin && address.pathname === "/search";
  if (!searching || address.searchParams.has("user") || address.searchParams.has("group")) return;
  const found = memory.tellsGroup() ? memory.group() : null;
  if (!found) {
    address.searchParams.set("mine", "1");
    followed.href = address;
    return;
  }
  address.searchParams.set("group", found.group);
  address.searchParams.set("release", found.release);
  followed.href = address;
}

export async function findGroup(release) {
  const known = memory.group();
  if (known?.release === release) return known;
  const all = memory.entries();
  const found = all.length ? nearest(countWords(all), await downloadProfiles(release)) : null;
  if (found) memory.keepGroup(found);
  return found;
}

// A group is a name of one release: under another release, and so under another stop of the dial, it is found anew.
export async function groupFor(address) {
  let release = address.searchParams.get("release");
  if (!release) {
    const asked = new URL("/api/v1/dial", address);
    asked.searchParams.set("risk", address.searchParams.get("risk") ?? "0");
    release = (await (await fetch(asked)).json()).release_id;
  }
  const found = release ? await findGroup(release) : null;
  if (!found) return address.searchParams.delete("group");
  address.searchParams.set("group", found.group);
  address.searchParams.set("release", found.release);
}

async function prepare(form) {
  const note = document.querySelector("[data-mine]");
  note.hidden = false;
  note.textContent = "Your browser profile is on. Comparing it with the public profiles …";
  let found;
  try {
    found = await findGroup(form.dataset.release);
  } catch {
    note.textContent = "Your browser profile is on, but the public profiles could not be read: this search has no group. Load the page again.";
    return;
  }
  if (!found) {
    setField(form, "mine", "1");
    note.textContent = "Your browser profile is on. It has no group yet: search for something first.";
    return;
  }
  setField(form, "group", found.group);
  form.elements.release.value = found.release;
  note.replaceChildren(`Your browser profile is on: you search as one of ${found.users} people in ${found.group}. `, link("See what is stored."));
}

function setField(form, name, value) {
  let field = form.querySelector(`input[type=hidden][name=${name}]`);
  if (!field) {
    field = Object.assign(document.createElement("input"), { type: "hidden", name });
    form.append(field);
  }
  field.value = value;
}
