// The attention weights as a table of numbers.
import { h, percent, visible } from "./dom";
import type { Scene } from "./scene";

/** For each token, the five tokens that it attends to most. */
export function attentionTable({ queries, keys, mean }: Scene, layer: number): HTMLElement {
  const header = ["Token", "1st", "2nd", "3rd", "4th", "5th"].map((name) => h("th", { scope: "col" }, name));
  const rows = queries.map((query, q) => {
    const best = mean.row(q).sort((a, b) => b.weight - a.weight);
    const cells = best
      .slice(0, 5)
      .map(({ key, weight }) => h("td", {}, `${visible(keys[key])} `, h("span", { class: "figure" }, percent(weight))));
    return h("tr", {}, h("th", { scope: "row" }, visible(query)), cells);
  });
  return h(
    "div",
    { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Table of attention" },
    h(
      "table",
      {},
      h("caption", {}, `Layer ${layer}: the five tokens that each token attends to most`),
      h("thead", {}, h("tr", {}, header)),
      h("tbody", {}, rows),
    ),
  );
}
