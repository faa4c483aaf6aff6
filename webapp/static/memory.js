// What does this browser remember? Searches and opened results, in its own storage, only while the switch is on.
const ON = "shoal.mine.on";
const ENTRIES = "shoal.mine.history";
const GROUP = "shoal.mine.group";
const TOLD = "shoal.mine.told";
const SAID = "shoal.mine.said";
const MOST = 5000;

const read = (key, otherwise) => {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
};
const write = (key, value) => localStorage.setItem(key, JSON.stringify(value));

export const isOn = () => read(ON, false) === true;
export const tellsGroup = () => read(TOLD, false) === true;
export const tellGroup = (told) => write(TOLD, told);
export const entries = () => read(ENTRIES, []);
export const group = () => read(GROUP, null);
export const keepGroup = (found) => write(GROUP, found);

export function turn(on) {
  write(ON, on);
  if (!on) localStorage.removeItem(GROUP);
}

export function addSearch(query) {
  const all = entries();
  if (!query || all.at(-1)?.query === query) return false;
  write(ENTRIES, [...all, { query, opened: [], time: Date.now() }].slice(-MOST));
  localStorage.removeItem(GROUP);
  return true;
}

export function addOpened(title) {
  const all = entries();
  const last = all.at(-1);
  if (!last || last.opened.includes(title)) return;
  last.opened.push(title);
  write(ENTRIES, all);
  localStorage.removeItem(GROUP);
}

export function forget(place) {
  write(ENTRIES, entries().filter((_, i) => i !== place));
  localStorage.removeItem(GROUP);
}

// What was imported stands before what was searched here. False where the browser has no room for it.
export function addImported(imported) {
  try {
    write(ENTRIES, [...imported, ...entries()].slice(-MOST));
  } catch {
    return false;
  }
  localStorage.removeItem(GROUP);
  return true;
}

export function forgetAll() {
  for (const key of Object.keys(localStorage)) if (key.startsWith("shoal.mine.") && key !== ON && key !== TOLD) localStorage.removeItem(key);
}

// The words that were drawn for my searches, and whether they were let go.
export const said = () => read(SAID, []);
export const keepSaid = (all) => write(SAID, all);

export const exported = () => JSON.stringify({ what: "my browser profile of Shoal", entries: entries(), words: said() }, null, 1);
