// The selected token in a sentence: whom it attends to, or who attends to it. Screen readers read it aloud.
import { h, percent, visible } from "./dom";
import type { Focus, Scene } from "./scene";

const kListed = 5; // tokens that a sentence names

/** The sentence, or null if nothing is selected. */
export function readout({ queries, keys, mean }: Scene, focus: Focus): (Node | string)[] | null {
  const query = focus.query !== null && focus.query < queries.length ? focus.query : null;
  const key = focus.key !== null && focus.key < keys.length ? focus.key : null;
  const name = (label: string) => h("b", {}, visible(label));
  const best = (entries: { key: number; weight: number }[], labels: string[]) =>
    entries
      .filter(({ weight }) => weight > 0)
      .sort((a, b) => b.weight - a.weight)
      .slice(0, kListed)
      .map((entry) => `${visible(labels[entry.key])} ${percent(entry.weight)}`)
      .join(" · ");
  if (query !== null) {
    const most = best(mean.row(query), keys);
    if (key === null) return [name(queries[query]), most ? ` attends to ${most}` : " attends to nothing"];
    const weight = percent(mean.at(query, key));
    const rest = most ? `; most to ${most}` : "";
    return [name(queries[query]), " attends to ", name(keys[key]), ` with a weight of ${weight}${rest}`];
  }
  if (key === null) return null;
  const most = best(mean.column(key), queries);
  return [name(keys[key]), most ? ` is attended to by ${most}` : " is attended to by nothing"];
}
