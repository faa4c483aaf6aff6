// How unique am I among these people? An attack on my own profile, made here from what is published and nothing else.
import { match } from "./nearest.js";

const KNOWN = [1, 2, 3, 5, 10];

// Who knows some of my words looks for the published profiles that hold them all. The rarest words tell most.
export function uniqueness(counts, profiles) {
  const { got, words } = match(counts, profiles);
  const holders = holdersOf(profiles, got);
  const labels = [...holders.keys()].sort((a, b) => holders.get(a).length - holders.get(b).length || a - b);
  const steps = KNOWN.filter((many) => many <= labels.length).map((many) => {
    const known = labels.slice(0, many);
    const left = known.map((label) => holders.get(label)).reduce((both, rows) => {
      const here = new Set(rows);
      return both.filter((row) => here.has(row));
    });
    return { known: known.map((label) => profiles.labels[label]), profiles: left.length, people: people(left, profiles) };
  });
  return { published: profiles.ids.length, everyone: people(profiles.ids.keys(), profiles), found: words.size, missed: counts.size - words.size, steps };
}

function people(rows, profiles) {
  let many = 0;
  for (const row of rows) many += profiles.users[row];
  return many;
}

function holdersOf(profiles, got) {
  const holders = new Map();
  for (let row = 0; row < profiles.ids.length; row++)
    for (let at = profiles.starts[row]; at < profiles.starts[row + 1]; at++) {
      const label = profiles.terms[at];
      if (!got[label] || !profiles.weights[at]) continue;
      if (!holders.has(label)) holders.set(label, []);
      holders.get(label).push(row);
    }
  return holders;
}
