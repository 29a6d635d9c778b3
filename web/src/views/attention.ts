// Type text, see who looks at whom: lines, heat map and every head at once, all pointing at the same token.
import * as api from "../api";
import type { AttentionData, ViewData } from "../api";
import { debounce, field, h, percent, remembered, segmented, slider, textArea, toggle, visible } from "../dom";
import { headColour } from "../draw/colours";
import { HeatMap } from "../draw/heatmap";
import { Lines } from "../draw/lines";
import { Thumbnails } from "../draw/thumbnails";
import { chooseHead, headBar, type Heads } from "../heads";
import { groups, habit, Matrix, mean, regroup } from "../matrix";
import { able, alignedLayer, modelField, nothingFor, panel, type View } from "../parts";
import { kNowhere, type Focus, type Scene } from "../scene";
import { Status } from "../status";
import { attentionTable } from "../table";
import { Tokens, tokensIn } from "../tokens";

const kExample = "The animal did not cross the street because it was too tired.";
// So many weights come in one answer, for all layers; more are asked for layer by layer, as they are looked at.
const kAtOnce = 400_000;
const kKept = 24; // weights of each row of the layer that is looked at, in long texts
const kSketched = 3; // and of each row of the small pictures
const kSketchedAtOnce = 64e6; // weights that an answer with small pictures is made from

const kViewNames = { self: "Self", encoder: "Encoder", decoder: "Decoder", cross: "Cross" };

export const attentionView: View = (root, page) => {
  const models = able(page, "attention");
  if (!models.length)
    return nothingFor(
      root,
      "Attention",
      "show its attention",
      "a model with attention: BERT, GPT-2 or a translator",
      "attend serve --model bert=bert-base-uncased",
    );

  let [chooser, model] = modelField(models, "attention", (chosen) => {
    model = chosen;
    layer = firstLayer();
    view = "";
    heads = null;
    offer();
    reload();
  });
  let text = remembered.get("attention.text", kExample);
  let pair = remembered.get("attention.pair", "");
  let write = 0;
  let layer = firstLayer();
  let heads: Heads = null;
  let view = "";
  let whole = remembered.get("attention.words", "") === "yes";
  let specials = true;
  let answer: AttentionData | null = null;
  let stored = new Map<string, Matrix[]>(); // "view/layer" → its heads
  let kept: number | null = null;
  let complete = true; // all layers came at once
  let scene: Scene | null = null;
  let focus: Focus = kNowhere;
  let pinned: number | null = null;
  let abort = new AbortController();

  const writes = () => model.capabilities.includes("generate");
  const type = debounce(250, () => void reload());

  const status = new Status();
  const readout = h("p", { class: "readout", "aria-live": "polite" });
  const lines = new Lines(point);
  const heat = new HeatMap(point);
  const grid = new Thumbnails((chosenLayer, head, add) => {
    heads = add && chosenLayer === layer ? chooseHead(heads, head, width(), true) : new Set([head]);
    layer = chosenLayer;
    controls();
    void lookAt();
  });
  const queryTokens = new Tokens("Tokens that look", {
    point: (query) => point({ query, key: null }),
    pick: (query) => pin(query),
  });
  const keyTokens = new Tokens("Tokens that are looked at", { point: (key) => point({ query: null, key }) });
  const habits = h("ul", { class: "habits" });
  const habitsTitle = h("h3", {});
  const results = h("div", { class: "results", hidden: true });
  const bar = h("div", { class: "controls", role: "group", "aria-label": "What is shown" });
  const writing = slider("Write on", { min: 0, max: 40, step: 1, value: write, format: (n) => `${n} tokens` }, (n) => {
    write = n;
    type();
  });
  const second = field(
    "Second text",
    textArea(pair, "For models of pairs; may stay empty", (value) => {
      remembered.set("attention.pair", (pair = value));
      type();
    }),
  );
  const legend = h("p", { class: "note" });
  const numbers = h("details", { class: "numbers", ontoggle: () => tabulate() }, h("summary", {}, "As a table"));
  const gridNote = h("p", { class: "note" });
  const zoom = slider(
    "Zoom",
    { min: 0, max: 4, step: 0.5, value: 0, format: (z) => `${(2 ** z).toFixed(1)} ×` },
    (z) => {
      heat.zoom = 2 ** z;
      heat.recolour();
    },
  );

  root.append(
    h("h1", {}, "Attention"),
    h("p", { class: "lead" }, "Each token gathers what it needs from others. Point at one to see where it looks."),
    h(
      "section",
      { class: "panel" },
      h("div", { class: "fields" }, chooser, writing),
      h(
        "div",
        { class: "columns" },
        field(
          "Text",
          textArea(text, "Type or paste something", (value) => {
            remembered.set("attention.text", (text = value));
            type();
          }),
        ),
        second,
      ),
      status.element,
    ),
    results,
  );
  results.append(
    bar,
    panel("In the text", null, queryTokens.element, keyTokens.element, readout),
    h(
      "div",
      { class: "columns" },
      panel("Lines", "from each token (left) to those it looks at (right); a colour a head", lines.viewport.element),
      panel("Heat map", legend, heat.viewport.element, zoom),
    ),
    panel(
      "All layers and heads",
      gridNote,
      h("div", { class: "columns fitted" }, grid.element, h("div", {}, habitsTitle, habits)),
    ),
    h("section", { class: "panel" }, numbers),
  );

  function translates(): boolean {
    return model.capabilities.includes("translate");
  }
  function firstLayer(): number {
    return translates() ? alignedLayer(model.layers) : 0;
  }

  /** The fields that depend on the kind of model. */
  function offer(): void {
    writing.hidden = !writes();
    second.hidden = writes() || translates();
  }

  function request(): api.AttentionRequest {
    return {
      model: model.id,
      input: text,
      long: "truncate",
      ...(pair && !second.hidden && { pair }),
      ...(writes() && { max_tokens: write }),
    };
  }

  /** A new text or model: the layer that is looked at first, then small pictures of all. */
  async function reload(): Promise<void> {
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    pinned = null;
    queryTokens.press(null);
    if (!text.trim()) {
      status.note("Type something above.");
      return;
    }
    status.busy("Reading…");
    try {
      const tokens = Math.min(tokensIn(text) + tokensIn(pair) + 2 + write, model.context ?? Infinity);
      const small = tokens * tokens * model.layers * model.heads <= kAtOnce;
      const first = await api.attention(
        small ? request() : { ...request(), layers: [layer], ...(tokens > 96 && { top_k: kKept }) },
        signal,
      );
      stored = new Map();
      answer = first;
      kept = small || tokens <= 96 ? null : kKept;
      complete = small;
      store(first);
      if (!first.views.some(({ name }) => name === view))
        view = (first.views.find(({ name }) => name === "cross") ?? first.views[0])?.name ?? "";
      layer = Math.min(layer, depth() - 1);
      controls();
      draw();
      status.clear();
      if (first.truncated)
        status.note(`The text is longer than the model can see: ${first.truncated} tokens were cut.`);
      const shown = current();
      grid.reset(depth(), width());
      for (const { layer: l } of shown?.layers ?? []) fill(l);
      mark();
      gridNote.textContent = "Click one to see it large; with Shift, add it.";
      if (small) return;
      // Of very long texts some layers at a time: no answer is to have more than the server gives.
      const cells = (shown?.query_tokens.length ?? 1) * (shown?.key_tokens.length ?? 1) * width();
      const together = Math.max(1, Math.floor(kSketchedAtOnce / cells));
      for (let from = 0; from < depth(); from += together) {
        const layers = Array.from({ length: Math.min(together, depth() - from) }, (_, i) => from + i);
        const sketch = await api.attention({ ...request(), layers, top_k: kSketched }, signal);
        for (const data of sketch.views.filter(({ name }) => name === view))
          for (const { layer: l, heads: list } of data.layers) {
            const keys = data.key_tokens.length;
            grid.show(l, byHead(list.map((head) => ({ head: head.head, matrix: Matrix.of(head, keys) }))));
          }
      }
      gridNote.textContent += ` The pictures show the ${kSketched} greatest weights of each row.`;
    } catch (error) {
      status.error(error, () => void reload());
    }
  }

  const current = (): ViewData | undefined => answer?.views.find(({ name }) => name === view);
  // An encoder may have other layers and heads than its decoder: the view knows, once it is all there.
  const depth = (): number => Math.max(1, (complete && current()?.layers.length) || model.layers);
  const width = (): number => current()?.layers[0]?.heads.length || model.heads;

  function byHead(list: { head: number; matrix: Matrix }[]): (Matrix | null)[] {
    const all = Array<Matrix | null>(width()).fill(null);
    for (const { head, matrix } of list) all[head] = matrix;
    return all;
  }

  function store(data: AttentionData): void {
    for (const each of data.views)
      for (const { layer: l, heads: list } of each.layers) {
        const matrices: Matrix[] = [];
        for (const head of list) matrices[head.head] = Matrix.of(head, each.key_tokens.length);
        stored.set(`${each.name}/${l}`, matrices);
      }
  }

  function fill(l: number): void {
    const matrices = stored.get(`${view}/${l}`);
    if (matrices) grid.show(l, byHead(matrices.map((matrix, head) => ({ head, matrix }))));
  }

  function mark(): void {
    grid.mark(layer, heads ?? new Set(Array.from({ length: width() }, (_, head) => head)));
  }

  /** Shows the chosen layer, which may have to be fetched. */
  async function lookAt(): Promise<void> {
    mark();
    if (!answer) return;
    if (!stored.has(`${view}/${layer}`)) {
      status.busy(`Loading layer ${layer}…`);
      const wanted = layer;
      try {
        store(await api.attention({ ...request(), layers: [layer], ...(kept && { top_k: kept }) }, abort.signal));
        status.clear();
      } catch (error) {
        status.error(error, () => void lookAt());
      }
      if (wanted !== layer) return;
    }
    draw();
  }

  function draw(): void {
    const data = current();
    const matrices = stored.get(`${view}/${layer}`);
    if (!data || !matrices?.length) return;
    const queries = groups(data.query_tokens, data.query_words, whole, specials);
    const keys = groups(data.key_tokens, data.key_words, whole, specials);
    const chosen = matrices
      .map((matrix, head) => ({ head, matrix }))
      .filter(({ head }) => !heads || heads.has(head))
      .map(({ head, matrix }) => ({ head, matrix: regroup(matrix, queries, keys) }));
    scene = {
      queries: queries.map(({ label }) => label),
      keys: keys.map(({ label }) => label),
      heads: chosen,
      mean: mean(chosen.map(({ matrix }) => matrix)),
      same: view !== "cross" && queries.length === keys.length, // of pooling, one query looks at all tokens
    };
    results.hidden = false;
    queryTokens.show(scene.queries);
    keyTokens.show(scene.same ? [] : scene.keys);
    keyTokens.element.hidden = scene.same;
    lines.show(scene);
    heat.show(scene);
    zoom.hidden = scene.keys.length < 40;
    const which = chosen.length === 1 ? `head ${chosen[0].head}` : `mean of ${chosen.length} heads`;
    legend.textContent =
      `layer ${layer}, ${which}; strongest is ${percent(scene.mean.greatest())}` +
      (kept ? `; the ${kept} greatest weights of each row and head are loaded` : "");
    habitsTitle.textContent = `What the heads of layer ${layer} do`;
    habits.replaceChildren(
      ...matrices.map((matrix, head) => {
        const item = h(
          "li",
          { class: !heads || heads.has(head) ? "" : "off" },
          h("b", {}, String(head)),
          habit(matrix),
        );
        item.style.setProperty("--head", headColour(head));
        return item;
      }),
    );
    point(focus);
    tabulate();
  }

  function pin(query: number): void {
    pinned = pinned === query ? null : query;
    queryTokens.press(pinned);
    point({ query, key: null });
  }

  function point(next: Focus): void {
    if (next.query === null && next.key === null && pinned !== null) next = { query: pinned, key: null };
    focus = next;
    lines.point(next);
    heat.point(next);
    if (!scene) return;
    const { queries, keys, mean: weights, same } = scene;
    const query = next.query !== null && next.query < queries.length ? next.query : null;
    const key = next.key !== null && next.key < keys.length ? next.key : null;
    const row = new Float32Array(Math.max(queries.length, keys.length));
    const entries = query !== null ? weights.row(query) : key !== null ? weights.column(key) : [];
    for (const entry of entries) row[entry.key] = entry.weight;
    const none = query === null && key === null;
    const shaded = same || query === null ? queryTokens : keyTokens;
    const other = shaded === queryTokens ? keyTokens : queryTokens;
    shaded.tint(none ? null : row);
    other.tint(null);
    queryTokens.mark(query ?? (same ? key : null));
    keyTokens.mark(key);
    if (none) {
      readout.textContent = "Point at a token, or walk through them with the arrow keys; click to keep one.";
    } else if (query !== null && key !== null) {
      readout.replaceChildren(
        h("b", {}, visible(queries[query])),
        " gives ",
        h("b", {}, percent(weights.at(query, key))),
        " of its attention to ",
        h("b", {}, visible(keys[key])),
      );
    } else {
      const best = entries.sort((a, b) => b.weight - a.weight).slice(0, 5);
      const label = (i: number) => visible((query !== null ? keys : queries)[i]);
      readout.replaceChildren(
        h("b", {}, visible(query !== null ? queries[query] : keys[key!])),
        query !== null ? " looks at " : " is looked at by ",
        best.map((entry) => `${label(entry.key)} ${percent(entry.weight)}`).join(" · ") || "nothing",
      );
    }
  }

  function tabulate(): void {
    if (numbers.open && scene) numbers.replaceChildren(numbers.firstElementChild!, attentionTable(scene, layer));
  }

  function controls(): void {
    const names = answer?.views.map(({ name }) => name) ?? [];
    bar.replaceChildren(
      ...(names.length > 1
        ? [
            segmented(
              "View",
              names.map((name) => ({ value: name, label: kViewNames[name] })),
              view,
              (value) => {
                view = value;
                layer = Math.min(layer, depth() - 1);
                heads = null;
                controls();
                bar.querySelector<HTMLInputElement>("input:checked")?.focus();
                grid.reset(depth(), width());
                for (let l = 0; l < depth(); ++l) fill(l);
                void lookAt();
              },
            ),
          ]
        : []),
      slider("Layer", { min: 0, max: depth() - 1, step: 1, value: layer }, (value) => {
        layer = value;
        void lookAt();
      }),
      headBar(width(), heads, (chosen) => {
        heads = chosen;
        void lookAt();
      }),
      segmented(
        "Tokens",
        [
          { value: "no", label: "Subwords" },
          { value: "yes", label: "Words" },
        ],
        whole ? "yes" : "no",
        (value) => {
          whole = value === "yes";
          remembered.set("attention.words", value);
          pinned = null;
          focus = kNowhere;
          draw();
        },
      ),
      toggle("Special tokens", specials, (value) => {
        specials = value;
        pinned = null;
        focus = kNowhere;
        draw();
      }),
    );
  }

  offer();
  controls();
  void reload();
  return {
    leave: () => {
      abort.abort();
      type.cancel();
      lines.viewport.destroy();
      heat.viewport.destroy();
    },
    recolour: () => {
      controls();
      draw();
      grid.recolour();
    },
  };
};
