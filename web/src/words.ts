// Attention weights between words, computed from those between tokens.
import type { ViewData } from "./api";
import { Matrix, mean } from "./matrix";

/** [query word][key word], the mean of the heads of a layer. The weights from a word are the mean over its tokens. */
export function wordWeights(view: ViewData, layer: ViewData["layers"][number]): number[][] {
  const weights = mean(layer.heads.map((head) => Matrix.of(head, view.key_tokens.length)));
  const count = (words: number[]) => Math.max(-1, ...words) + 1;
  const tokens = new Array<number>(count(view.query_words)).fill(0);
  const rows = tokens.map(() => new Array<number>(count(view.key_words)).fill(0));
  view.query_words.forEach((word, q) => {
    if (word < 0) return;
    ++tokens[word];
    for (const { key, weight } of weights.row(q)) {
      const seen = view.key_words[key];
      if (seen >= 0) rows[word][seen] += weight;
    }
  });
  return rows.map((row, word) => row.map((weight) => weight / Math.max(tokens[word], 1)));
}
