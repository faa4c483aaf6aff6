// How does a browser rank by itself? Candidates with their vectors come in one answer; the profile stays here.
import { endings } from "./nearest.js";

async function read(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json();
}

// The words are asked for under the version that the candidates name: the browser keeps them until they change.
export async function downloadCandidates(query, release = "") {
  const found = await read(`/api/v1/candidates?${new URLSearchParams({ q: query, ...(release && { release }) })}`);
  return { ...found, known: await downloadWords(found.words) };
}

let kept = null;

export async function downloadWords(version) {
  if (kept && kept.version === version) return kept;
  const words = await read(`/api/v1/words?${new URLSearchParams(version ? { version } : {})}`);
  if (version && words.version !== version) throw new Error("other documents are served now");
  const forms = words.forms ? words.forms.split(" ") : [];
  const place = new Map([...Object.entries(words.spellings), ...forms.map((form, i) => [form, i])]);
  const rarity = words.holding.map((holding) => Math.log((1 + words.documents) / (1 + holding)) + 1);
  return (kept = { version: words.version, forms, place, rarity });
}

// A profile in the space of the documents: the count of each form. Words that no document or dictionary holds are left out.
export function inSpace(counts, known) {
  const own = new Map();
  for (const [written, count] of counts) {
    const word = endings(written).find((form) => known.place.has(form));
    if (word === undefined) continue;
    const at = known.place.get(word);
    own.set(at, (own.get(at) ?? 0) + count);
  }
  return own;
}

// For each candidate what each form of the profile gives to its cosine, but for the length of the profile, which all share.
export function parts(own, found) {
  const given = found.results.map(() => []);
  let form = 0, at = 0;
  found.forms.forEach((gap, i) => {
    form += gap;
    const count = own.get(form);
    let document = 0;
    for (const end = at + found.holders[i]; at < end; at++) {
      document += found.places[at];
      if (count) given[document].push([form, count * found.times[at] * found.known.rarity[form] * found.unit[document]]);
    }
  });
  return given;
}

// The cosine of each candidate with the profile, times the profile's length.
export const cosines = (given) => given.map((terms) => terms.reduce((sum, [, value]) => sum + value, 0));

const scaled = (values) => {
  const best = Math.max(0, ...values);
  return values.map((value) => (best > 0 ? value / best : 0));
};

// search/rerank.py in the browser: (1 - weight) * the engine's order + weight * cosine / best cosine; ties keep that order.
export function rank(own, found, weight) {
  const given = parts(own, found);
  const cosine = cosines(given);
  const best = Math.max(0, ...cosine);
  const share = best > 0 ? weight : 0;
  const profile = scaled(cosine);
  const score = found.engine.map((engine, i) => (1 - share) * engine + share * profile[i]);
  const order = score.map((_, i) => i).sort((a, b) => score[b] - score[a] || a - b);
  return { order, score, engine: found.engine.map((engine) => (1 - share) * engine), given, toScore: best > 0 ? share / best : 0 };
}
