// What a head does, in numbers and in words. The attention page has the numbers from attend/explain/head_statistics.h;
// the explorer computes the same from the weights that it has loaded.
import { h, visible } from "./dom";
import type { Matrix } from "./matrix";

/** Means over the rows of a head. Shares are of the attention weight; three are null if queries and keys are different
 * texts. */
export interface Statistics {
  entropy: number;
  distance: number;
  previous: number | null;
  self: number | null;
  next: number | null;
  first: number;
  separator: number;
  same: number;
}

export interface Measure {
  name: keyof Statistics;
  title: string;
  /** In plain words. */
  meaning: string;
  /** What a head with most of its weight there is said to attend to. */
  goal?: string;
}

/** In the order in which the attention page stores them. */
export const kMeasures: Measure[] = [
  {
    name: "entropy",
    title: "entropy",
    meaning:
      "how widely a token spreads its attention, in bits: 0 if all weight is on one token, 1 if it is shared evenly by two, 2 by four, 3 by eight",
  },
  {
    name: "distance",
    title: "distance",
    meaning: "how far away, in tokens, the attended tokens are on average",
  },
  {
    name: "previous",
    title: "previous",
    meaning: "share of the attention weight on the token just before",
    goal: "the previous token",
  },
  {
    name: "self",
    title: "self",
    meaning: "share of the attention weight on the token itself",
    goal: "the token itself",
  },
  {
    name: "next",
    title: "next",
    meaning: "share of the attention weight on the token just after",
    goal: "the next token",
  },
  {
    name: "first",
    title: "first",
    meaning:
      "share of the attention weight on the first token; many heads put their weight there when they have nothing to do",
    goal: "the first token",
  },
  {
    name: "separator",
    title: "separator",
    meaning: "share of the attention weight on special tokens such as [SEP] and </s>, except the first token",
    goal: "special tokens",
  },
  {
    name: "same",
    title: "same token",
    meaning: "share of the attention weight on the same token at other places in the text",
    goal: "the same token elsewhere",
  },
];

const kMostly = 0.35; // a share from which on a head is described by it

/** `words` has −1 for special tokens, as in the server's answers. */
export function measure(matrix: Matrix, queries: string[], keys: string[], words: number[], same: boolean): Statistics {
  const sum = { entropy: 0, distance: 0, previous: 0, self: 0, next: 0, first: 0, separator: 0, same: 0 };
  const step = same ? 1 : queries.length > 1 ? (keys.length - 1) / (queries.length - 1) : 0;
  let rows = 0;
  for (let q = 0; q < matrix.queries; ++q) {
    let total = 0;
    for (let i = matrix.start[q]; i < matrix.start[q + 1]; ++i) {
      const k = matrix.key[i];
      const weight = matrix.weight[i];
      if (weight <= 0) continue;
      total += weight;
      sum.entropy -= weight * Math.log2(weight);
      sum.distance += weight * Math.abs(k - q * step);
      if (k === 0) sum.first += weight;
      else if (words[k] < 0) sum.separator += weight;
      if ((!same || k !== q) && words[k] >= 0 && keys[k].trim() === queries[q].trim()) sum.same += weight;
      if (k === q - 1) sum.previous += weight;
      else if (k === q) sum.self += weight;
      else if (k === q + 1) sum.next += weight;
    }
    if (total > 0) ++rows;
  }
  for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] /= Math.max(rows, 1);
  return same ? sum : { ...sum, previous: null, self: null, next: null };
}

/** What a head does, in a few words: where most of its weight goes, and its entropy. */
export function habit(statistics: Statistics): string {
  const goals = kMeasures
    .filter(({ goal }) => goal)
    .map(({ name, goal }) => ({ goal, share: statistics[name] ?? 0 }))
    .sort((a, b) => b.share - a.share);
  const spread = `entropy ${statistics.entropy.toFixed(1)} bits`;
  const { goal, share } = goals[0];
  return share >= kMostly ? `${Math.round(100 * share)} % to ${goal}, ${spread}` : spread;
}

/** The measures in plain words, below a table of them. */
export function meanings(shown: Measure[] = kMeasures): HTMLElement {
  return h(
    "dl",
    { class: "meanings" },
    shown.flatMap(({ title, meaning }) => [h("dt", {}, title), h("dd", {}, meaning)]),
  );
}

export interface HeadRow {
  layer: number;
  head: number;
  /** "3.5": the numbers of layer and head. */
  name: string;
  statistics: Statistics;
}

/** All heads in numbers. A click on a heading sorts by it; a click on a head chooses it. */
export class StatisticsTable {
  readonly element = h("div", {});
  private rows: HeadRow[] = [];
  private by: Measure | null = null;
  private descending = true;

  constructor(private readonly choose: (layer: number, head: number) => void) {}

  show(rows: HeadRow[]): void {
    this.rows = rows;
    const shown = kMeasures.filter(({ name }) => rows[0]?.statistics[name] !== null);
    const { by } = this;
    const sorted = [...rows];
    if (by)
      sorted.sort((a, b) => (this.descending ? -1 : 1) * ((a.statistics[by.name] ?? 0) - (b.statistics[by.name] ?? 0)));
    this.element.replaceChildren(
      h(
        "div",
        { class: "scroll whole", tabIndex: 0, role: "region", "aria-label": "Statistics of all heads" },
        h(
          "table",
          { class: "numbers statistics" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, "layer.head"),
              shown.map((measure) => this.heading(measure)),
            ),
          ),
          h(
            "tbody",
            {},
            sorted.map((row) => this.row(row, shown)),
          ),
        ),
      ),
      meanings(shown),
    );
  }

  private heading(measure: Measure): HTMLElement {
    const mine = this.by === measure;
    const sort = () => {
      this.descending = mine ? !this.descending : true;
      this.by = measure;
      this.show(this.rows);
      this.element.querySelector<HTMLElement>(`[data-measure="${measure.name}"]`)?.focus();
    };
    const button = h(
      "button",
      { type: "button", title: measure.meaning, onclick: sort },
      h("span", {}, measure.title),
      mine ? (this.descending ? " ↓" : " ↑") : null,
    );
    button.dataset["measure"] = measure.name;
    return h(
      "th",
      { scope: "col", "aria-sort": mine ? (this.descending ? "descending" : "ascending") : "none" },
      button,
    );
  }

  private row({ layer, head, name, statistics }: HeadRow, shown: Measure[]): HTMLElement {
    const button = h("button", { type: "button", "aria-label": `Layer and head ${visible(name)}` }, name);
    return h(
      "tr",
      { onclick: () => this.choose(layer, head) },
      h("td", {}, button),
      shown.map(({ name: measure, goal }) => {
        const value = statistics[measure] ?? 0;
        const cell = h("td", { title: habit(statistics) }, value.toFixed(measure === "distance" ? 1 : 2));
        if (goal)
          cell.style.backgroundColor = `color-mix(in srgb, var(--accent) ${(40 * Math.sqrt(value)).toFixed(0)}%, transparent)`;
        return cell;
      }),
    );
  }
}
