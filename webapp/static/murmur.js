// Which word does my browser say at a search? At most one of the server's menu, shown before it is sent, or none.
// anonymizer/methods/murmur/answer.py in the browser, with the chance of the platform's cryptographic source.
import * as memory from "./memory.js";
import { cosines, parts } from "./candidates.js";
import { make } from "./elements.js";

export const NOTHING = "";
const asked = (query) => query.toLowerCase().split(/\s+/u).filter(Boolean).join(" ");
const entryOf = (query, release) => memory.said().find((one) => one.query === asked(query) && one.release === release);
const sent = (release) => new Set(memory.said().filter((one) => one.release === release && one.sent && one.word !== NOTHING).map((one) => one.word));

const OWN_FIRST = 30;

// What may be said to this menu, and what is best: the word of the best page, none where no page beats the engine's.
// Once so many words were said, only those may be; a word that a crafted menu repeats is one answer. `own` has the score of each candidate by the own profile.
export function choices(menu, own, said) {
  const open = menu.words.map((word) => said.size < menu.most || said.has(word));
  const first = new Set(own.map((_, i) => i).sort((a, b) => own[b] - own[a] || a - b).slice(0, Math.min(OWN_FIRST, Math.floor(own.length / 2))));
  const engine = precision((menu.pages[0] ?? []).map((_, i) => i), first);
  const worth = menu.pages.map((page, i) => (open[i] ? precision(page, first) - engine : 0));
  const most = Math.max(0, ...worth);
  return { options: [...new Set([...menu.words.filter((_, i) => open[i]), NOTHING])], best: most > 0 ? menu.words[worth.indexOf(most)] : NOTHING };
}

// The average precision of a page, as a whole number: 2520 times the sum of the precision at the rank of each hit.
function precision(page, relevant) {
  let hits = 0;
  return page.reduce((sum, candidate, i) => (relevant.has(candidate) ? sum + ++hits * Math.floor(2520 / (i + 1)) : sum), 0);
}

// The best answer with the probability e^epsilon / (e^epsilon + others), else one of the others, all alike.
export function randomized(best, options, epsilon, chance = fraction) {
  const others = options.filter((one) => one !== best);
  if (epsilon === null || !others.length || chance() < Math.exp(epsilon) / (Math.exp(epsilon) + others.length)) return best;
  return others[Math.floor(chance() * others.length)];
}

// From 0 to below 1, all 53 bits of it by chance.
export function fraction() {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return ((high >>> 5) * 2 ** 26 + (low >>> 6)) / 2 ** 53;
}

// Drawn once for a query: whoever asks again, or says no and asks again, gets the same.
function answerTo(found, own) {
  const known = entryOf(found.query, found.menu.release_id);
  if (known) return known;
  const { options, best } = choices(found.menu, cosines(parts(own, found)), sent(found.menu.release_id));
  const made = { query: asked(found.query), release: found.menu.release_id, word: randomized(best, options, found.menu.epsilon), sent: null, time: Date.now() };
  memory.keepSaid([...memory.said(), made]);
  return made;
}

function decide(entry, let_go) {
  memory.keepSaid(memory.said().map((one) => (one.query === entry.query && one.release === entry.release ? { ...one, sent: let_go } : one)));
}

export function startMurmur(found, own) {
  const address = new URL(location.href);
  const entry = answerTo(found, own);
  if (entry.sent && entry.word !== NOTHING && !address.searchParams.has("word")) return location.replace(withWord(address, entry));
  document.querySelector(".murmur")?.remove();
  const note = document.querySelector("[data-mine]");
  note.replaceChildren("Your browser profile is on: it ranks in this browser, and no more of it is sent than the word below, when you let it go. ", make("a", { href: "/mine", textContent: "See what is stored." }));
  note.after(shown(found, entry, address));
}

function withWord(address, entry) {
  address.searchParams.delete("group");
  address.searchParams.set("word", entry.word);
  address.searchParams.set("release", entry.release);
  return address;
}

function shown(found, entry, address) {
  const box = make("section", { className: "murmur", ariaLabel: "The word of this search" });
  box.append(...(entry.word === NOTHING ? [make("p", { textContent: "Your browser says nothing at this search." })] : entry.sent === null ? question(found, entry, address) : [make("p", {}, entry.sent ? "You said " : "You did not say ", make("b", { textContent: entry.word }), entry.sent ? " at this search: the server ranked the anonymized column by it." : " at this search, and the server did not hear it.")]));
  box.append(make("p", { className: "hint", textContent: budget(found.menu) }), ledger());
  return box;
}

function question(found, entry, address) {
  const yes = make("button", { type: "button", className: "primary", textContent: `Say “${entry.word}”` });
  const no = make("button", { type: "button", textContent: "Say nothing" });
  yes.addEventListener("click", () => {
    decide(entry, true);
    location.assign(withWord(address, entry));
  });
  no.addEventListener("click", () => {
    decide(entry, false);
    document.querySelector(".murmur").replaceWith(shown(found, { ...entry, sent: false }, address));
  });
  const why = found.menu.epsilon === null ? "of the server’s menu the one that would bring the first page most like yours" : `drawn from the server’s menu with epsilon ${found.menu.epsilon}: it may be the best for you or not`;
  return [make("p", {}, "Your browser would say one word, ", make("b", { textContent: entry.word }), `, ${why}. Nothing is sent until you let it go.`), make("p", { className: "murmur-do" }, yes, " ", no)];
}

function budget(menu) {
  const many = sent(menu.release_id).size;
  const noise = menu.epsilon === null ? "" : " To let go only words that are true undoes the protection of epsilon, and each search adds another epsilon.";
  return `${many} of ${menu.most} different words said.${noise} Searches that the server can link tell more together than one alone.`;
}

export function ledger() {
  const rows = memory.said().filter((one) => one.word !== NOTHING && one.sent !== null).reverse();
  const list = rows.map((one) => make("li", {}, make("b", { textContent: one.word }), ` ${one.sent ? "said" : "not said"} at “${one.query}”, ${new Date(one.time).toLocaleString()}`));
  return make("details", { className: "ledger", hidden: !rows.length }, make("summary", { textContent: `Words ever said: ${rows.filter((one) => one.sent).length}` }), make("ul", {}, ...list));
}
