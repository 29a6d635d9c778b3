// One word in two sentences: how similar its two vectors are, and what it attends to in each sentence.
import * as api from "../api";
import type { Model, ViewData } from "../api";
import { debounce, field, h, percent, remembered, slider, textArea, visible } from "../dom";
import { HeatMap } from "../draw/heatmap";
import { cosine, groups, Matrix, mean, regroup, type Group } from "../matrix";
import { able, barOf, modelField, nothingFor, panel, type View } from "../parts";
import { kNowhere, type Focus, type Scene } from "../scene";
import { Status } from "../status";
import { Tokens } from "../tokens";

const kExamples = ["We sat on the bank of the river and watched the water.", "The bank lent us money for the house."];

/** One of the two sentences, and what was computed for it. */
interface Side {
  text: string;
  word: number;
  words: Group[];
  view: ViewData | null;
  weights: Matrix | null;
  vectors: number[][] | null; // of the words
  tokens: Tokens;
  readout: HTMLElement;
}

export const compareView: View = (root, page) => {
  const models = able(page, "embed");
  if (!models.length)
    return nothingFor(
      root,
      "Compare",
      "give vectors",
      "an encoder: BERT or a sentence-transformers folder",
      "attend serve --model minilm=all-MiniLM-L6-v2",
    );

  let [chooser, model] = modelField(models, "compare", (chosen) => {
    model = chosen;
    layer = Math.min(layer, Math.max(model.layers - 1, 0));
    layers();
    void reload();
  });
  let layer = Math.max(0, Math.min(model.layers - 1, 2));
  let abort = new AbortController();
  let sentence: number | null = null;

  const status = new Status();
  const scores = h("div", { class: "scores", "aria-live": "polite" });
  const layerSlot = h("div", { class: "fields" });
  const heat = new HeatMap(point, () => 640, "Rows: first sentence. Columns: second sentence.");
  const alike = h("ul", { class: "bars wide" });
  const pointedAt = h("p", { class: "readout", "aria-live": "polite" });
  const between = panel(
    "Word by word",
    "cosine similarity of every word of the first sentence with every word of the second",
    h(
      "div",
      { class: "columns" },
      h("div", {}, heat.element, pointedAt),
      h("div", {}, h("h3", {}, "Different words with the most similar vectors"), alike),
    ),
  );
  let scene: Scene | null = null;

  const sides = [0, 1].map((index): Side => ({
    text: remembered.get(`compare.${index}`, kExamples[index]),
    word: -1,
    words: [],
    view: null,
    weights: null,
    vectors: null,
    tokens: new Tokens(`Words of sentence ${index + 1}: choose one`, { pick: (word) => pick(index, word) }),
    readout: h("p", { class: "readout", "aria-live": "polite" }),
  }));
  const type = debounce(350, () => void reload());

  root.append(
    h("h1", {}, "Compare"),
    h(
      "p",
      { class: "lead" },
      "The meaning of a word depends on its sentence. Choose a word in each sentence, and see how similar their vectors are.",
    ),
    h(
      "section",
      { class: "panel" },
      h("div", { class: "fields" }, chooser, layerSlot),
      h(
        "div",
        { class: "columns" },
        sides.map((side, index) =>
          field(
            index ? "Second sentence" : "First sentence",
            textArea(side.text, "A sentence", (value) => {
              remembered.set(`compare.${index}`, (side.text = value));
              side.word = -1;
              type();
            }),
          ),
        ),
      ),
      status.element,
    ),
    scores,
    h(
      "div",
      { class: "columns" },
      sides.map((side, index) =>
        panel(index ? "In the second" : "In the first", "click the word to compare", side.tokens.element, side.readout),
      ),
    ),
    between,
  );
  between.hidden = true;

  function layers(): void {
    layerSlot.replaceChildren();
    if (model.capabilities.includes("attention") && model.layers > 1)
      layerSlot.append(
        slider("Attention of layer", { min: 0, max: model.layers - 1, step: 1, value: layer }, (value) => {
          layer = value;
          reloadAttention();
        }),
      );
  }
  const reloadAttention = debounce(120, () => void attend(abort.signal).catch((error: unknown) => status.error(error)));

  async function reload(): Promise<void> {
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    if (sides.some(({ text }) => !text.trim())) {
      status.note("Type both sentences.");
      clear();
      return;
    }
    status.busy("Loading…");
    try {
      const texts = sides.map(({ text }) => text);
      const [vectors] = await Promise.all([api.embeddings(model.id, texts, signal), attend(signal)]);
      sentence = cosine(vectors[0], vectors[1]);
      await wordVectors(model, texts, signal);
      status.clear();
      score();
      compareAll();
    } catch (error) {
      if (!api.isAbort(error)) clear();
      status.error(error, () => void reload());
    }
  }

  /** Nothing is left of sentences that could not be compared. */
  function clear(): void {
    sentence = null;
    scene = null;
    between.hidden = true;
    for (const side of sides) {
      side.view = side.weights = side.vectors = null;
      side.words = [];
      side.tokens.show([]);
      side.readout.replaceChildren();
    }
    scores.replaceChildren();
  }

  /** The vectors of words: the means of the vectors of their tokens. */
  async function wordVectors(model: Model, texts: string[], signal: AbortSignal): Promise<void> {
    for (const side of sides) side.vectors = null;
    try {
      const found = await api.tokenVectors(model.id, texts, signal);
      sides.forEach((side, i) => {
        const { tokens, vectors } = found[i];
        if (!side.view || tokens.length !== side.view.query_tokens.length) return;
        side.vectors = side.words.map(({ tokens }) =>
          vectors[0].map((_, d) => tokens.reduce((sum, t) => sum + vectors[t][d], 0) / tokens.length),
        );
      });
    } catch (error) {
      if (api.isAbort(error)) throw error; // the sentences can be compared without them
    }
  }

  async function attend(signal: AbortSignal): Promise<void> {
    if (!model.capabilities.includes("attention")) {
      for (const side of sides) {
        side.view = side.weights = null;
        side.words = side.text
          .split(/\s+/)
          .filter(Boolean)
          .map((label, i) => ({ label, tokens: [i] }));
      }
    } else {
      const answers = await Promise.all(
        sides.map(({ text }) =>
          api.attention({ model: model.id, input: text, layers: [layer], long: "truncate" }, signal),
        ),
      );
      sides.forEach((side, i) => {
        const view = answers[i].views[0];
        side.view = view;
        side.words = groups(view.query_tokens, view.query_words, true, false);
        const all = mean(view.layers[0].heads.map((head) => Matrix.of(head, view.key_tokens.length)));
        side.weights = regroup(all, side.words, side.words);
      });
    }
    guess();
    sides.forEach(draw);
  }

  /** The first choice: the longest word that both sentences have. */
  function guess(): void {
    const names = sides.map(({ words }) => words.map(({ label }) => plain(label)));
    if (sides.every(({ word, words }) => word >= 0 && word < words.length)) return;
    const shared = names[0]
      .filter((name) => name.length > 3 && names[1].includes(name))
      .sort((a, b) => b.length - a.length)[0];
    sides.forEach((side, i) => {
      if (side.word < 0 || side.word >= side.words.length)
        side.word = Math.max(0, shared ? names[i].indexOf(shared) : 0);
    });
  }

  function pick(index: number, word: number): void {
    sides[index].word = word;
    draw(sides[index]);
    score();
  }

  function draw(side: Side): void {
    side.tokens.show(side.words.map(({ label }) => label));
    side.tokens.press(side.word);
    side.tokens.mark(side.word);
    if (!side.weights) return;
    const entries = side.weights.row(side.word);
    const row = new Float32Array(side.words.length);
    for (const { key, weight } of entries) row[key] = weight;
    side.tokens.tint(row);
    const best = entries
      .filter(({ weight }) => weight > 0.005)
      .sort((a, b) => b.weight - a.weight)
      .slice(0, 4);
    side.readout.replaceChildren(
      h("b", {}, visible(side.words[side.word]?.label ?? "")),
      " attends to ",
      best.map(({ key, weight }) => `${visible(side.words[key].label)} ${percent(weight)}`).join(" · ") ||
        "nothing in particular",
    );
  }

  function score(): void {
    const [a, b] = sides;
    const cards: HTMLElement[] = [];
    if (a.vectors && b.vectors && a.words[a.word] && b.words[b.word])
      cards.push(
        card(`“${a.words[a.word].label}” and “${b.words[b.word].label}”`, cosine(a.vectors[a.word], b.vectors[b.word])),
      );
    if (sentence !== null) cards.push(card("The two sentences", sentence));
    scores.replaceChildren(...cards);
  }

  function compareAll(): void {
    const [a, b] = sides;
    between.hidden = !(a.vectors && b.vectors);
    if (!a.vectors || !b.vectors) return;
    const rows = a.vectors.map((x) => b.vectors!.map((y) => Math.max(0, cosine(x, y))));
    const matrix = Matrix.dense(rows, b.words.length);
    const shown: Scene = {
      title: `${a.text} · ${b.text}`,
      queries: a.words.map(({ label }) => label),
      keys: b.words.map(({ label }) => label),
      heads: [{ head: 0, matrix }],
      mean: matrix,
      same: false,
    };
    scene = shown;
    heat.show(shown);
    const pairs = rows.flatMap((row, i) =>
      row.map((value, j) => ({ value, one: a.words[i].label, other: b.words[j].label })),
    );
    const best = pairs
      .filter(({ one, other }) => plain(one) && plain(other) && plain(one) !== plain(other))
      .sort((x, y) => y.value - x.value)
      .slice(0, 10);
    alike.replaceChildren(...best.map(({ one, other, value }) => barOf(`${one} · ${other}`, value, value.toFixed(3))));
    point(kNowhere);
  }

  function point(focus: Focus): void {
    heat.point(focus);
    const { query, key } = focus;
    if (!scene) return;
    pointedAt.textContent =
      query === null || key === null
        ? "Point at a cell to read its cosine similarity."
        : `${scene.queries[query]} · ${scene.keys[key]}: ${scene.mean.at(query, key).toFixed(3)}`;
  }

  layers();
  void reload();
  return {
    leave: () => {
      abort.abort();
      type.cancel();
      reloadAttention.cancel();
      heat.viewport.destroy();
    },
    recolour: () => {
      sides.forEach(draw);
      heat.recolour();
    },
  };
};

const plain = (word: string): string => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** A cosine similarity as a number, and on a scale from opposite to equal. */
function card(what: string, value: number): HTMLElement {
  const needle = h("span", { class: "needle" });
  needle.style.left = `${50 + 50 * value}%`;
  return h(
    "div",
    { class: "card" },
    h("span", { class: "label" }, what),
    h("span", { class: "value" }, value.toFixed(3)),
    h("span", { class: "scale", "aria-hidden": "true" }, needle),
    h(
      "span",
      { class: "ends", "aria-hidden": "true" },
      h("span", {}, "−1 opposite"),
      h("span", {}, "0"),
      h("span", {}, "1 same"),
    ),
  );
}
