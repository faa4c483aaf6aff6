// What does a file of my own say I searched for? Exports of histories, lists and bookmarks, read here; hostile until read.
export const LARGEST = 64 * 1024 * 1024;
export const MOST = 5000;
const LONGEST = 300;
const DEEPEST = 6;
const SEARCHED = /^(?:searched for|gesucht nach:?|vous avez recherché|has buscado|hai cercato|ricerca di|you searched for)\s+/iu;
const VISITED = /^(?:visited|viewed|used|besucht|angesehen)\b/iu;
const SAID = ["query", "q", "search", "search_term", "searchterm", "term", "keyword", "keywords", "text", "title", "name"];
const WHEN = ["time", "timestamp", "date", "datetime", "querytime", "time_usec", "visited_on"];

// The entries of a file, the oldest first, at most so many of the latest; an error says what was expected.
export function readHistory(text, name = "") {
  const found = kindOf(text, name)(text).map(cleaned).filter((one) => one.query);
  if (!found.length) throw new Error("no searches were found in it: give a JSON or CSV export, a list with a search on each line, or bookmarks as HTML");
  return found.map((one, i) => [one, i]).sort(([a, i], [b, j]) => a.time - b.time || i - j).map(([one]) => one).slice(-MOST);
}

function kindOf(text, name) {
  const begin = text.trimStart().slice(0, 200).toLowerCase();
  if (begin.startsWith("{") || begin.startsWith("[")) return fromJson;
  if (begin.startsWith("<")) return fromBookmarks;
  if (/\.(csv|tsv)$/iu.test(name) || columnsOf(rowsOf(text.slice(0, 2000))[0] ?? []).query >= 0) return fromTable;
  return fromLines;
}

function cleaned({ query, opened = [], time = 0 }) {
  return { query: plain(query), opened: opened.map(plain).filter(Boolean).slice(0, 50), time: Number.isFinite(time) && time > 0 && time < 8e15 ? time : 0 };
}

const plain = (text) => String(text ?? "").replace(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, " ").replace(/\s+/gu, " ").trim().slice(0, LONGEST);
const fromLines = (text) => text.split(/\r?\n/u).map((query) => ({ query }));

function fromJson(text) {
  let read;
  try {
    read = JSON.parse(text);
  } catch {
    throw new Error("it begins like JSON, but cannot be read as JSON");
  }
  return listsIn(read, 0).map(fromObject);
}

// Exports wrap their list in objects; whatever lies deeper than any of them does is not looked at.
function listsIn(value, depth) {
  if (Array.isArray(value)) return value;
  if (depth === DEEPEST || value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap((inner) => listsIn(inner, depth + 1));
}

function fromObject(one) {
  if (typeof one === "string") return { query: one };
  if (one === null || typeof one !== "object" || Array.isArray(one)) return { query: "" };
  const lower = Object.fromEntries(Object.entries(one).map(([key, value]) => [key.toLowerCase(), value]));
  const said = SAID.map((key) => lower[key]).find((value) => typeof value === "string") ?? "";
  const opened = Array.isArray(one.opened) ? one.opened.filter((title) => typeof title === "string") : [];
  return { query: VISITED.test(said) && !SEARCHED.test(said) ? "" : said.replace(SEARCHED, ""), opened, time: momentOf(lower) };
}

function momentOf(one) {
  const given = WHEN.map((key) => one[key]).find((value) => value !== undefined);
  if (typeof given === "number") return given > 1e14 ? given / 1000 : given; // some count microseconds
  return typeof given === "string" ? Date.parse(given) : 0;
}

function fromTable(text) {
  const rows = rowsOf(text);
  const { query, time } = columnsOf(rows[0] ?? []);
  const body = query >= 0 ? rows.slice(1) : rows;
  return body.map((row) => ({ query: (row[Math.max(query, 0)] ?? "").replace(SEARCHED, ""), time: time >= 0 ? Date.parse(row[time]) : 0 }));
}

function columnsOf(head) {
  const names = head.map((name) => name.trim().toLowerCase());
  const place = (wanted) => names.findIndex((name) => wanted.includes(name));
  return { query: place(SAID), time: place(WHEN) };
}

// Commas, semicolons or tabs, whichever the first line has most of; quotes as spreadsheets write them.
function rowsOf(text) {
  const first = text.split("\n", 1)[0];
  const mark = ["\t", ";", ","].map((one) => [first.split(one).length, one]).sort((a, b) => b[0] - a[0])[0][1];
  const rows = [[]];
  let cell = "", quoted = false;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (quoted && letter === '"' && text[i + 1] === '"') cell += text[++i];
    else if (letter === '"' && (quoted || !cell)) quoted = !quoted;
    else if (!quoted && (letter === mark || letter === "\n")) {
      rows.at(-1).push(cell);
      cell = "";
      if (letter === "\n") rows.push([]);
    } else if (letter !== "\r" || quoted) cell += letter;
  }
  rows.at(-1).push(cell);
  return rows.filter((row) => row.some((one) => one.trim()));
}

// Read as text, and never as a document: nothing in it can run or be loaded.
function fromBookmarks(text) {
  return text.split(/<a\s/iu).slice(1).map((piece) => {
    const [link] = piece.split(/<\/a>/iu, 1);
    const begin = link.indexOf(">");
    const added = /\badd_date="?(\d+)/iu.exec(link.slice(0, begin))?.[1] ?? 0;
    return { query: begin < 0 ? "" : unescaped(link.slice(begin + 1).replace(/<[^<>]*>/gu, " ")), time: added * 1000 };
  });
}

const NAMED = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };
const unescaped = (text) =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/giu, (whole, decimal, hexadecimal, name) => {
    const code = decimal ? Number(decimal) : hexadecimal ? parseInt(hexadecimal, 16) : null;
    return code === null ? (NAMED[name.toLowerCase()] ?? whole) : code <= 0x10ffff ? String.fromCodePoint(code) : "";
  });
