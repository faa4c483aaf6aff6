// How does my own profile rank in the page? The candidates are ranked here and fill a column; nothing of the profile is sent.
import * as memory from "./memory.js";
import { downloadCandidates, inSpace, rank } from "./candidates.js";
import { make } from "./elements.js";
import { countWords } from "./nearest.js";
import { startMurmur } from "./murmur.js";
import { drawMovement } from "./movement.js";

const SVG = "http://www.w3.org/2000/svg";
const NAMES = { plain: "Plain", personalized: "Personalized", anonymized: "Anonymized" };
const SHAPE = "M8 1l7 7-7 7-7-7z";
const PAGE_SIZE = 10;
const MOST_TERMS = 12;

let found = null;

export async function startDevice() {
  const form = document.querySelector("form[data-search] [name=q]")?.form;
  const asked = new URL(location.href);
  if (!form || asked.pathname !== "/search" || asked.searchParams.has("user") || !memory.isOn() || !memory.entries().length) return;
  if (document.querySelector(".sampled")) {
    asked.searchParams.set("mine", "1"); // somebody was shown because nobody was picked: now it is me
    return location.replace(asked);
  }
  if (!document.querySelector(".column-plain") || !["compare", "titles"].includes(asked.searchParams.get("view") ?? "compare")) return;
  try {
    found = await downloadCandidates(asked.searchParams.get("q"), form.dataset.release);
  } catch {
    return tell("The candidates could not be read, so your own profile ranks nothing here. Load the page again.");
  }
  fill(form);
  if (found.menu) startMurmur(found, inSpace(countWords(memory.entries()), found.known));
  form.querySelector("input[type=range]").addEventListener("input", () => fill(form));
  document.addEventListener("shoal:ranked", () => {
    fill(form);
    if (!new URLSearchParams(location.search).has("word")) setTimeout(() => form.dataset.release !== found.menu?.release_id && document.querySelector(".murmur")?.remove());
  });
}

const tell = (text) => (document.querySelector("[data-status]").textContent = text);

function fill(form) {
  const began = performance.now();
  const own = inSpace(countWords(memory.entries()), found.known);
  const ranking = rank(own, found, Number(form.elements.weight.value));
  const took = performance.now() - began;
  const page = Number(new URLSearchParams(location.search).get("page") ?? 1);
  const place = new Map(ranking.order.map((candidate, i) => [String(found.results[candidate].document), i + 1]));
  document.querySelector(".column-personalized")?.remove();
  const plain = document.querySelector(".column-plain");
  plain.after(column(plain, ranking, page, took));
  for (const result of document.querySelectorAll(".column:not(.column-personalized) .result")) addPlace(result, place);
  arrange();
  drawMovement();
}

function column(plain, ranking, page, took) {
  const made = plain.cloneNode(false);
  made.className = "column kind-personalized column-personalized";
  made.id = "column-personalized";
  made.setAttribute("aria-labelledby", "head-personalized");
  made.dataset.milliseconds = took.toFixed(2);
  const head = make("h2", { id: "head-personalized" }, shape(), NAMES.personalized, " ", make("small", { textContent: "by my own profile, in this browser" }));
  const list = plain.querySelector(".results").cloneNode(false);
  const row = plain.querySelector(".result");
  const begin = (page - 1) * PAGE_SIZE;
  list.append(...ranking.order.slice(begin, begin + PAGE_SIZE).map((candidate, i) => result(row, candidate, begin + i + 1, ranking)));
  made.append(head, list);
  return made;
}

function result(row, candidate, place, ranking) {
  const one = found.results[candidate];
  const made = row.cloneNode(true);
  made.dataset.document = one.document;
  made.classList.remove("same-document");
  const link = made.querySelector("h3 a");
  link.href = link.getAttribute("href").replace(/\/document\/\d+/, `/document/${one.document}`);
  link.textContent = one.title || "Without a title";
  made.querySelector(".rank").setAttribute("aria-label", `Rank ${place}`);
  made.querySelector(".rank").replaceChildren(`${place}`, move(candidate + 1 - place));
  made.querySelector(".snippet").replaceChildren(...one.snippet.map(([text, marked]) => (marked ? make("mark", { textContent: text }) : text)));
  const meta = [one.source && make("span", { textContent: one.source }), one.date && make("time", { textContent: one.date, dateTime: one.date })];
  made.querySelector(".meta").replaceChildren(...meta.filter(Boolean));
  places(made).replaceChildren(mark("plain", candidate + 1), mark("personalized", place, true));
  made.querySelector(".why").open = false;
  delete made.querySelector(".why").dataset.asked;
  made.querySelector(".why-body").replaceChildren(reason(candidate, ranking));
  return made;
}

function move(gained) {
  const way = gained > 0 ? "up" : gained < 0 ? "down" : "same";
  const title = gained ? `${way} ${Math.abs(gained)} against plain` : "same place as plain";
  return make("span", { className: `move ${way}`, title, textContent: `${{ up: "▲", down: "▼", same: "=" }[way]}${Math.abs(gained) || ""}` });
}

function addPlace(result, place) {
  const document = result.dataset.document;
  const shown = places(result);
  shown.querySelector(".kind-personalized")?.remove();
  if (!shown.children.length) shown.append(mark("plain", result.querySelector(".rank").firstChild.textContent.trim(), true));
  if (place.has(document)) shown.firstElementChild.after(mark("personalized", place.get(document)));
}

function places(result) {
  const shown = result.querySelector(".places") ?? make("span", { className: "places" });
  if (!shown.isConnected) result.querySelector(".meta").after(shown);
  return shown;
}

const mark = (kind, place, here = false) =>
  make("span", { className: `place kind-${kind}${here ? " here" : ""}`, title: `${NAMES[kind]}: rank ${place}` }, make("span", { className: "visually-hidden", textContent: `${NAMES[kind]} ` }), `${place}`);

// Why it stands there: the query's part and what each of my words gave, together the score.
function reason(candidate, ranking) {
  const terms = ranking.given[candidate].map(([form, value]) => [found.known.forms[form], value * ranking.toScore]).sort((a, b) => b[1] - a[1]);
  const rest = terms.slice(MOST_TERMS);
  const rows = [["the query", "engine", "words of the query", ranking.engine[candidate]]];
  for (const [term, value] of terms.slice(0, MOST_TERMS)) rows.push([term, "mine", "mine", value]);
  if (rest.length) rows.push([`${rest.length} more`, "mine", "mine", rest.reduce((sum, [, value]) => sum + value, 0)]);
  const body = make("tbody", {}, ...rows.map(([what, owner, words, value]) =>
    make("tr", {}, make("th", { scope: "row", textContent: what }), make("td", {}, make("span", { className: `owner owner-${owner}`, textContent: words })), number(value))));
  body.append(make("tr", { className: "reason-total" }, make("th", { scope: "row", textContent: "Score" }), make("td"), number(ranking.score[candidate])));
  return make("div", { className: "reason" }, make("table", { className: "reason-table" }, body));
}

const number = (value) => make("td", { className: "number", textContent: value.toFixed(3) });

// The tabs of a phone and the widths of a desk go by the columns that are there.
function arrange() {
  const compare = document.querySelector(".compare");
  const kinds = [...compare.querySelectorAll(".column")].map((one) => one.id.replace("column-", ""));
  compare.className = compare.className.replace(/columns-\d/, `columns-${kinds.length}`);
  if (compare.querySelector("#tab-personalized")) return;
  const open = compare.querySelector(".tab:checked")?.id ?? "tab-personalized";
  compare.querySelectorAll(".tab, .tabs").forEach((one) => one.remove());
  const tabs = kinds.map((kind) => make("input", { className: "tab", type: "radio", name: "column", id: `tab-${kind}`, ariaLabel: `Show ${NAMES[kind]}`, checked: open === `tab-${kind}` }));
  const labels = kinds.map((kind) => make("label", { className: `tab-label kind-${kind}`, htmlFor: `tab-${kind}` }, compare.querySelector(`#head-${kind} .shape`).cloneNode(true), NAMES[kind]));
  compare.prepend(...tabs, make("div", { className: "tabs" }, ...labels));
}

function shape() {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("class", "shape shape-personalized");
  drawing.setAttribute("viewBox", "0 0 16 16");
  drawing.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", SHAPE);
  drawing.append(path);
  return drawing;
}
