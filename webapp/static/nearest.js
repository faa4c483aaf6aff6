// Which group is nearest to me? Found here, by cosine, from the public profiles; nothing of the history leaves the browser.
const WORD = /[\p{L}\p{N}]+(?:[-'’][\p{L}\p{N}]+)*/gu;

export function countWords(entries) {
  const counts = new Map();
  for (const { query, opened } of entries)
    for (const text of [query, ...opened])
      for (const [word] of text.toLowerCase().matchAll(WORD)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

export async function downloadProfiles(release) {
  const answer = await fetch(`/api/v1/releases/${encodeURIComponent(release)}/profiles`);
  if (!answer.ok) throw new Error(`the profiles of ${release} cannot be read`);
  return answer.json();
}

// What each label gets from my words, and what it adds to the length of a profile that holds it (squared).
export function match(counts, profiles) {
  const labels = new Map();
  const leaves = new Map(profiles.leaves.map((leaf, i) => [leaf, i]));
  const share = new Array(profiles.labels.length).fill(1);
  const bags = new Map();
  profiles.labels.forEach((label, i) => {
    const span = profiles.spans[i];
    if (span) share[i] = 1 / Math.max(1, span[1] - span[0]);
    else if (label.includes("|")) {
      const members = label.split("|");
      share[i] = 1 / members.length;
      for (const word of members) bags.set(word, [...(bags.get(word) ?? []), i]);
    } else labels.set(label, i);
  });
  const got = new Float64Array(profiles.labels.length);
  const words = new Map();
  for (const [written, count] of counts) {
    const word = endings(written).find((form) => labels.has(form) || leaves.has(form) || bags.has(form));
    if (!word) continue;
    words.set(word, (words.get(word) ?? 0) + count);
    if (labels.has(word)) got[labels.get(word)] += count;
    for (const i of bags.get(word) ?? []) got[i] += count * share[i];
    const leaf = leaves.get(word);
    if (leaf === undefined) continue;
    for (const [i, [low, high]] of Object.entries(profiles.spans))
      if (low <= leaf && leaf < high) got[i] += count * share[i];
  }
  return { got, share, words };
}

// The published words are nouns in the singular; these endings are what searchers add.
export function endings(word) {
  const found = [word];
  if (word.endsWith("ies")) found.push(`${word.slice(0, -3)}y`);
  if (word.endsWith("es")) found.push(word.slice(0, -2));
  if (word.endsWith("s")) found.push(word.slice(0, -1));
  return found;
}

export function nearest(counts, profiles) {
  const { got, share, words } = match(counts, profiles);
  const mine = Math.hypot(...words.values()) || 1;
  let best = null;
  for (let row = 0; row < profiles.ids.length; row++) {
    let product = 0;
    let length = 0;
    for (let at = profiles.starts[row]; at < profiles.starts[row + 1]; at++) {
      const label = profiles.terms[at];
      product += profiles.weights[at] * got[label];
      length += profiles.weights[at] ** 2 * share[label];
    }
    const cosine = length ? product / (mine * Math.sqrt(length)) : 0;
    if (cosine > (best?.cosine ?? 0)) best = { row, cosine };
  }
  if (!best) return null;
  const terms = profiles.terms.slice(profiles.starts[best.row], profiles.starts[best.row + 1]);
  const shared = terms.filter((label) => got[label] > 0).map((label) => profiles.labels[label]);
  return { group: profiles.ids[best.row], users: profiles.users[best.row], cosine: best.cosine, shared, release: profiles.release_id };
}
