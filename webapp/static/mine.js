// What does the page of my own profile show and do? Import, see, attack, pick a group, export, delete: all in this browser.
import * as memory from "./memory.js";
import { downloadWords, inSpace } from "./candidates.js";
import { make } from "./elements.js";
import { findGroup } from "./group.js";
import { LARGEST, readHistory } from "./import.js";
import { ledger } from "./murmur.js";
import { countWords, downloadProfiles } from "./nearest.js";
import { uniqueness } from "./unique.js";

const page = document.querySelector("[data-mine-page]");
const part = (name) => page.querySelector(`[data-part=${name}]`);
const SHOWN = 40;
const ROWS = 100;
const stopWords = new Set(page.dataset.stopWords.split(" "));
const many = (count, one) => `${count.toLocaleString("en")} ${count === 1 ? one : one === "search" ? "searches" : one === "person" ? "people" : `${one}s`}`;
const ownWords = (all) => new Map([...countWords(all)].filter(([word]) => !stopWords.has(word)));

function show() {
  const on = memory.isOn();
  const all = memory.entries();
  part("switch").checked = on;
  part("state").textContent = on ? "On: this browser remembers your searches." : "Off: nothing is remembered.";
  part("count").textContent = many(all.length, "search");
  for (const name of ["forget-all", "export", "attack"]) part(name).disabled = !all.length;
  part("list").replaceChildren(...all.map(row).slice(-ROWS).reverse());
  part("older").textContent = all.length > ROWS ? `and ${many(all.length - ROWS, "search")} before these` : "";
  part("empty").hidden = all.length > 0;
  part("unique").replaceChildren();
  part("ledger").replaceChildren(ledger());
  showWords(all);
  showGroup(on, all);
}

function row(entry, place) {
  const what = make("div", {}, make("strong", { textContent: entry.query }));
  for (const title of entry.opened) what.append(make("span", { className: "opened", textContent: `opened: ${title}` }));
  const when = new Date(entry.time);
  const time = entry.time ? make("time", { textContent: when.toLocaleString(), dateTime: when.toISOString() }) : make("span", { className: "opened", textContent: "imported" });
  const button = make("button", { type: "button", textContent: "Forget" });
  button.setAttribute("aria-label", `Forget ${entry.query}`);
  button.addEventListener("click", () => {
    memory.forget(place);
    show();
  });
  return make("li", {}, what, time, button);
}

// The weight of a word is how often I used it, and how rare it is among the documents: that is what ranks.
async function showWords(all) {
  const words = ownWords(all);
  if (!words.size) return part("words").replaceChildren();
  const known = await downloadWords().catch(() => null);
  const own = known ? [...inSpace(words, known)].map(([at, count]) => [known.forms[at], count, count * known.rarity[at]]) : [...words].map(([word, count]) => [word, count, count]);
  own.sort((a, b) => b[2] - a[2] || (a[0] < b[0] ? -1 : 1));
  const best = own[0]?.[2] ?? 1;
  part("words").replaceChildren(...own.slice(0, SHOWN).map(([word, count, weight]) => wordOf(word, count, weight / best)));
  part("silent").textContent = known ? `${many(own.length, "word")} of the dictionary and the documents here${own.length > SHOWN ? `, the ${SHOWN} heaviest shown` : ""}. Names and other words rank nothing.` : "";
}

function wordOf(word, count, share) {
  const bar = make("meter", { value: share, max: 1 });
  bar.setAttribute("aria-label", `weight ${Math.round(share * 100)} of 100`);
  return make("li", {}, make("span", { textContent: count > 1 ? `${word} × ${count}` : word }), bar);
}

async function showGroup(on, all) {
  const place = part("group");
  part("told").checked = memory.tellsGroup();
  part("sent").textContent = "GET /search?q=your+words&mine=1";
  if (!on || !all.length) {
    place.textContent = on ? "No group yet: search for something first." : "No group: the switch is off.";
    return;
  }
  place.textContent = "Comparing with the public profiles …";
  let found;
  try {
    found = await findGroup(page.dataset.release);
  } catch {
    place.textContent = "The public profiles could not be read, so no group is sent. Load the page again.";
    return;
  }
  if (!found) {
    place.textContent = "No published profile shares a word with yours, so no group is sent.";
    return;
  }
  const shared = found.shared.slice(0, 12).join(", ");
  place.replaceChildren(
    make("b", { textContent: found.group }), ` is nearest (cosine ${found.cosine.toFixed(2)}). ${found.users} people of the log are behind it. `,
    `You share with it: ${shared}. `, memory.tellsGroup() ? "" : "It is not told to the server.",
  );
  if (!memory.tellsGroup()) return;
  part("sent").textContent = `GET /search?q=your+words&group=${found.group}&release=${found.release}`;
}

async function importFiles(files) {
  const said = [];
  for (const file of files) {
    try {
      if (file.size > LARGEST) throw new Error("it is larger than 64 MB");
      const found = readHistory(await file.text(), file.name);
      if (!memory.addImported(found)) throw new Error("this browser has no room for it");
      said.push(`${file.name}: ${many(found.length, "search")} read.`);
    } catch (error) {
      said.push(`${file.name}: ${error.message}.`);
    }
  }
  memory.turn(true);
  show();
  part("imported").textContent = said.join(" ");
}

async function attack() {
  const place = part("unique");
  place.replaceChildren(make("p", { textContent: "Comparing with the public profiles …" }));
  let result;
  try {
    result = uniqueness(ownWords(memory.entries()), await downloadProfiles(page.dataset.release));
  } catch {
    return place.replaceChildren(make("p", { textContent: "The public profiles could not be read. Load the page again." }));
  }
  place.replaceChildren(...told(result));
}

function told({ published, everyone, found, missed, steps }) {
  if (!published) return [make("p", { textContent: "The active release publishes no profile of anybody, so there is nobody to compare with." })];
  const head = make("p", { textContent: `${many(published, "profile")} of ${many(everyone, "person")} are published. ${many(found, "word")} of yours stand in one of them, ${missed.toLocaleString("en")} in none.` });
  if (!steps.length) return [head, make("p", { textContent: "You share no word with anybody here: in this crowd you would stand out at once." })];
  return [head, make("ul", { className: "uniqueness" }, ...steps.map(stepOf)), make("p", { className: "hint", textContent: verdict(steps) })];
}

function stepOf({ known, profiles, people }) {
  const left = profiles ? `fits ${many(profiles, "profile")} of ${many(people, "person")}` : "fits nobody but you";
  return make("li", {}, `Who knows ${known.length === 1 ? "this word" : `these ${known.length} words`} of yours (${known.slice(0, 5).join(", ")}${known.length > 5 ? ", …" : ""}) has a description that `, make("b", { textContent: left }), ".");
}

function verdict(steps) {
  const alone = steps.find(({ people }) => people <= 1);
  return alone
    ? `${alone.known.length === 1 ? "One of your rarest words is" : `Your ${alone.known.length} rarest words are`} enough to tell you from all people here. You are not in this data: it says how unusual you are among them.`
    : `Even ${many(steps.at(-1).known.length, "word")} of yours, the rarest, fit several people: among these you would not stand out.`;
}

function exportAll() {
  const address = URL.createObjectURL(new Blob([memory.exported()], { type: "application/json" }));
  make("a", { href: address, download: "my-browser-profile.json" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

part("switch").addEventListener("change", (event) => {
  memory.turn(event.target.checked);
  show();
});
part("told").addEventListener("change", (event) => {
  memory.tellGroup(event.target.checked);
  show();
});
part("import").addEventListener("change", async (event) => {
  await importFiles([...event.target.files]);
  event.target.value = "";
});
part("attack").addEventListener("click", attack);
part("export").addEventListener("click", exportAll);
part("forget-all").addEventListener("click", () => {
  memory.forgetAll();
  show();
});
page.hidden = false;
show();
