// What does the page of my own profile show? The switch, my group, and every entry with a way to forget it.
import * as memory from "./memory.js";
import { make } from "./elements.js";
import { findGroup } from "./group.js";
import { countWords } from "./nearest.js";

const page = document.querySelector("[data-mine-page]");
const part = (name) => page.querySelector(`[data-part=${name}]`);
const SHOWN = 24;
const stopWords = new Set(page.dataset.stopWords.split(" "));

function show() {
  const on = memory.isOn();
  const all = memory.entries();
  part("switch").checked = on;
  part("state").textContent = on ? "On: this browser remembers your searches." : "Off: nothing is remembered.";
  part("count").textContent = `${all.length} ${all.length === 1 ? "search" : "searches"}`;
  part("forget-all").disabled = !all.length;
  part("list").replaceChildren(...all.map(row).reverse());
  part("empty").hidden = all.length > 0;
  showWords(all);
  showGroup(on, all);
}

function row(entry, place) {
  const what = make("div", {}, make("strong", { textContent: entry.query }));
  for (const title of entry.opened) what.append(make("span", { className: "opened", textContent: `opened: ${title}` }));
  const time = make("time", { textContent: new Date(entry.time).toLocaleString(), dateTime: new Date(entry.time).toISOString() });
  const button = make("button", { type: "button", textContent: "Forget" });
  button.setAttribute("aria-label", `Forget ${entry.query}`);
  button.addEventListener("click", () => {
    memory.forget(place);
    show();
  });
  return make("li", {}, what, time, button);
}

function showWords(all) {
  const words = [...countWords(all)].filter(([word]) => !stopWords.has(word)).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).slice(0, SHOWN);
  part("words").replaceChildren(...words.map(([word, n]) => make("li", { textContent: n > 1 ? `${word} × ${n}` : word })));
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

part("switch").addEventListener("change", (event) => {
  memory.turn(event.target.checked);
  show();
});
part("told").addEventListener("change", (event) => {
  memory.tellGroup(event.target.checked);
  show();
});
part("forget-all").addEventListener("click", () => {
  memory.forgetAll();
  show();
});
page.hidden = false;
show();
