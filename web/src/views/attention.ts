// The attention weights of a text: in the text, as lines, as a heat map, and of all heads at once. A token that is
// selected in one picture is selected in all of them.
import * as api from "../api";
import type { AttentionData, HeadData, ViewData } from "../api";
import { debounce, field, h, remembered, segmented, slider, textArea, toggle } from "../dom";
import { headColour } from "../draw/colours";
import { HeatMap } from "../draw/heatmap";
import { Lines } from "../draw/lines";
import { Thumbnails } from "../draw/thumbnails";
import { exampleFor } from "../examples";
import { chooseHead, headBar, type Heads } from "../heads";
import { groups, Matrix, mean, regroup } from "../matrix";
import { languageFields, type Languages } from "../languages";
import { able, alignedLayer, modelField, nothingFor, panel, type View } from "../parts";
import { readout as sentence } from "../readout";
import { kNowhere, type Focus, type Scene } from "../scene";
import { shadeTokens } from "../shade";
import { habit, kMeasures, measure, meanings } from "../statistics";
import { Status } from "../status";
import { attentionTable } from "../table";
import { Tokens, tokensIn } from "../tokens";

const kAtOnce = 400_000; // weights up to which one answer has all layers; otherwise each layer is loaded when shown
const kKept = 24; // weights of each row that are loaded of a long text
const kSketched = 3; // weights of each row that the small pictures of a long text are drawn from
const kSketchedAtOnce = 64e6; // weights that the server computes for one answer with small pictures
const kMostWritten = 40; // tokens that the model may write

const kViewNames = {
  self: "Self",
  encoder: "Encoder",
  decoder: "Decoder",
  cross: "Cross",
  memory: "Hops",
  "context-to-question": "Text to question",
  "question-to-context": "Question to text",
};

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
    if (!remembered.has("attention.text")) area.value = text = exampleFor(model).sentence;
    offer();
    reload();
  });
  let text = remembered.get("attention.text", exampleFor(model).sentence);
  let pair = remembered.get("attention.pair", "");
  let write = 0;
  let languages: Languages | null = null;
  let layer = firstLayer();
  let heads: Heads = null;
  let view = "";
  let whole = remembered.get("attention.words", "") === "yes";
  let specials = true;
  let answer: AttentionData | null = null;
  let stored = new Map<string, Matrix[]>(); // "view/layer" → its heads
  let sketches = new Map<string, Matrix[]>(); // the same, for small pictures
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
  const grid = new Thumbnails(
    (chosenLayer, head, add) => {
      heads = add && chosenLayer === layer ? chooseHead(heads, head, width(), true) : new Set([head]);
      layer = chosenLayer;
      controls();
      void showLayer();
    },
    true,
    2000,
  );
  const queryTokens = new Tokens("Queries: the tokens that attend", {
    point: (query) => point({ query, key: null }),
    pick: (query) => pin(query),
  });
  const keyTokens = new Tokens("Keys: the tokens that are attended to", {
    point: (key) => point({ query: null, key }),
  });
  const habits = h("ul", { class: "habits" });
  const habitsTitle = h("h3", {});
  const results = h("div", { class: "results", hidden: true });
  const bar = h("div", { class: "controls", role: "group", "aria-label": "What is shown" });
  const writing = h("div", { class: "fields" });
  const area = textArea(text, "Type or paste a text", (value) => {
    remembered.set("attention.text", (text = value));
    type();
  });
  const second = field(
    "Second text",
    textArea(pair, "Optional: a second text, read together with the first", (value) => {
      remembered.set("attention.pair", (pair = value));
      type();
    }),
  );
  const legend = h("p", { class: "note" });
  const numbers = h("details", { ontoggle: () => tabulate() }, h("summary", {}, "As a table"));
  const gridNote = h("p", { class: "note" });
  root.append(
    h("h1", {}, "Attention"),
    h(
      "p",
      { class: "lead" },
      "Each token collects information from other tokens. Point at a token to see which ones it attends to.",
    ),
    h(
      "section",
      { class: "panel" },
      h("div", { class: "fields" }, chooser, writing),
      h("div", { class: "columns" }, field("Text", area), second),
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
      panel("Lines", "from each token to the tokens it attends to; each head has its own colour", lines.element),
      panel("Heat map", legend, heat.element),
    ),
    panel(
      "All layers and heads",
      gridNote,
      h("div", { class: "columns fitted" }, grid.element, h("div", {}, habitsTitle, habits)),
      h("details", {}, h("summary", {}, "What the numbers mean"), meanings(kMeasures)),
    ),
    h("section", { class: "panel" }, numbers),
  );

  function translates(): boolean {
    return model.capabilities.includes("translate");
  }
  function firstLayer(): number {
    return translates() ? alignedLayer(model.layers) : 0;
  }

  /** The fields that depend on what the model can do. */
  function offer(): void {
    second.hidden = !model.capabilities.includes("pairs");
    let fields;
    [fields, languages] = languageFields(model, "attention", false, () => void reload());
    writing.replaceChildren(...fields);
    const most = Math.min(kMostWritten, (model.context ?? Infinity) - 2);
    write = Math.min(write, most);
    if (writes() && most > 0)
      writing.append(
        slider("Continue by", { min: 0, max: most, step: 1, value: write, format: (n) => `${n} tokens` }, (n) => {
          write = n;
          type();
        }),
      );
  }

  /** Nothing is left of a text that could not be shown. */
  function clear(): void {
    results.hidden = true;
    answer = null;
    scene = null;
    stored.clear();
    sketches.clear();
  }

  function request(): api.AttentionRequest {
    return {
      model: model.id,
      input: text,
      long: "truncate",
      ...(pair && !second.hidden && { pair }),
      ...(writes() && { max_tokens: write }),
      ...(languages && { source_lang: languages.source, target_lang: languages.target }),
    };
  }

  /** A new text or model: first the chosen layer, then small pictures of all layers. */
  async function reload(): Promise<void> {
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    pinned = null;
    queryTokens.press(null);
    if (!text.trim()) {
      status.note("Type a text above.");
      clear();
      return;
    }
    status.busy("Loading…");
    try {
      const tokens = Math.min(tokensIn(text) + tokensIn(pair) + 2 + write, model.context ?? Infinity);
      const small = tokens * tokens * model.layers * model.heads <= kAtOnce;
      const first = await api.attention(
        small ? request() : { ...request(), layers: [layer], ...(tokens > 96 && { top_k: kKept }) },
        signal,
      );
      stored = new Map();
      sketches = new Map();
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
        status.note(`The text is longer than the model's limit: ${first.truncated} tokens were cut.`);
      const shown = current();
      resetGrid();
      for (const { layer: l } of shown?.layers ?? []) fill(l);
      mark();
      gridNote.textContent = "Click a head to see it large; Shift-click adds it.";
      if (small) return;
      // The server limits the size of an answer: of a very long text, some layers at a time.
      const cells = (shown?.query_tokens.length ?? 1) * (shown?.key_tokens.length ?? 1) * width();
      const together = Math.max(1, Math.floor(kSketchedAtOnce / cells));
      for (let from = 0; from < depth(); from += together) {
        const layers = Array.from({ length: Math.min(together, depth() - from) }, (_, i) => from + i);
        const sketch = await api.attention({ ...request(), layers, top_k: kSketched }, signal);
        for (const data of sketch.views.filter(({ name }) => name === view))
          for (const { layer: l, heads: list } of data.layers) {
            sketches.set(`${view}/${l}`, matricesOf(list, data.key_tokens.length));
            fill(l);
          }
      }
      gridNote.textContent += ` The pictures show the ${kSketched} greatest weights of each row.`;
    } catch (error) {
      if (!api.isAbort(error)) clear();
      status.error(error, () => void reload());
    }
  }

  const current = (): ViewData | undefined => answer?.views.find(({ name }) => name === view);
  // An encoder may have other numbers of layers and heads than its decoder; the view knows once all layers are there.
  const depth = (): number => Math.max(1, (complete && current()?.layers.length) || model.layers);
  const width = (): number => current()?.layers[0]?.heads.length || model.heads;

  const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

  function matricesOf(list: HeadData[], keys: number): Matrix[] {
    const matrices: Matrix[] = [];
    for (const head of list) matrices[head.head] = Matrix.of(head, keys);
    return matrices;
  }

  function store(data: AttentionData): void {
    for (const each of data.views)
      for (const { layer: l, heads: list } of each.layers)
        stored.set(`${each.name}/${l}`, matricesOf(list, each.key_tokens.length));
  }

  const loaded = (l: number): Matrix[] | undefined => stored.get(`${view}/${l}`) ?? sketches.get(`${view}/${l}`);

  function resetGrid(): void {
    grid.reset({
      layers: range(depth()),
      heads: range(width()),
      matrix: (l, head) => loaded(l)?.[head] ?? null,
    });
  }

  /** What the heads of a layer do, from the weights that are loaded. */
  function habitsOf(l: number): string[] {
    const data = current();
    const matrices = loaded(l);
    if (!data || !matrices) return [];
    return matrices.map((matrix) =>
      habit(measure(matrix, data.query_tokens, data.key_tokens, data.key_words, data.same_tokens)),
    );
  }

  function fill(l: number): void {
    if (loaded(l)) grid.show(l, habitsOf(l));
  }

  function mark(): void {
    grid.mark(layer, heads ?? new Set(range(width())));
  }

  /** Shows the chosen layer, which may have to be loaded. */
  async function showLayer(): Promise<void> {
    mark();
    if (!answer) return;
    if (!stored.has(`${view}/${layer}`)) {
      status.busy(`Loading layer ${layer}…`);
      const wanted = layer;
      try {
        store(await api.attention({ ...request(), layers: [layer], ...(kept && { top_k: kept }) }, abort.signal));
        status.clear();
      } catch (error) {
        if (wanted === layer && !api.isAbort(error)) results.hidden = true;
        status.error(error, () => void showLayer());
        return;
      }
      if (wanted !== layer) return;
      fill(layer);
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
    const { text: source, translation } = answer!;
    const shown: Scene = {
      title: translation === undefined ? source : `${source} → ${translation}`,
      queries: queries.map(({ label }) => label),
      keys: keys.map(({ label }) => label),
      heads: chosen,
      mean: mean(chosen.map(({ matrix }) => matrix)),
      same: data.same_tokens,
    };
    scene = shown;
    results.hidden = false;
    queryTokens.show(shown.queries);
    keyTokens.show(shown.same ? [] : shown.keys);
    keyTokens.element.hidden = shown.same;
    lines.show(shown);
    heat.show(shown);
    const which = chosen.length === 1 ? `head ${chosen[0].head}` : `mean of ${chosen.length} heads`;
    legend.textContent =
      `layer ${layer}, ${which}` + (kept ? `; the ${kept} greatest weights of each row and head are loaded` : "");
    habitsTitle.textContent = `What the heads of layer ${layer} do`;
    habits.replaceChildren(
      ...habitsOf(layer).map((words, head) => {
        const item = h("li", { class: !heads || heads.has(head) ? "" : "off" }, h("b", {}, String(head)), words);
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
    shadeTokens(scene, next, queryTokens, keyTokens);
    readout.replaceChildren(
      ...(sentence(scene, next) ?? ["Point at a token, or move with the arrow keys; click to keep it selected."]),
    );
  }

  function tabulate(): void {
    if (numbers.open && scene) numbers.replaceChildren(numbers.firstElementChild!, attentionTable(scene, layer));
  }

  function controls(): void {
    const names = answer?.views.map(({ name }) => name) ?? [];
    const data = current();
    const words = data ? [data.query_words, data.key_words] : [];
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
                resetGrid();
                for (let l = 0; l < depth(); ++l) fill(l);
                void showLayer();
              },
            ),
          ]
        : []),
      ...(depth() > 1
        ? [
            slider("Layer", { min: 0, max: depth() - 1, step: 1, value: layer }, (value) => {
              layer = value;
              void showLayer();
            }),
          ]
        : []),
      ...(width() > 1
        ? [
            headBar(range(width()), heads, (chosen) => {
              heads = chosen;
              void showLayer();
            }),
          ]
        : []),
      ...(words.some((side) => side.some((word, i) => i > 0 && word >= 0 && word === side[i - 1]))
        ? [
            segmented(
              "Show",
              [
                { value: "no", label: "Tokens" },
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
          ]
        : []),
      ...(words.some((side) => side.some((word) => word < 0)) && words.every((side) => side.some((word) => word >= 0))
        ? [
            toggle("Special tokens", specials, (value) => {
              specials = value;
              pinned = null;
              focus = kNowhere;
              draw();
            }),
          ]
        : []),
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
      grid.destroy();
    },
    recolour: () => {
      controls();
      draw();
      grid.recolour();
    },
  };
};
