// The page that `attend attention --output page.html` writes: every layer and head of captured attention, with the
// pictures of the explorer. It needs no server: data.ts reads the weights out of the page.
import { field, h, select, toggle } from "../dom";
import { Alignment } from "../draw/alignment";
import { HeatMap } from "../draw/heatmap";
import { Lines } from "../draw/lines";
import { Thumbnails } from "../draw/thumbnails";
import { headBar } from "../heads";
import { groups, mean, regroup, type Matrix } from "../matrix";
import { readout } from "../readout";
import { kNowhere, type Focus, type Scene } from "../scene";
import { habit, StatisticsTable } from "../statistics";
import { Tokens } from "../tokens";
import { shadeTokens } from "../shade";
import { themeButton } from "../theme";
import { Cache, matrixOf, nameOf, readMaps, statisticsOf, type Layer, type ViewData } from "./data";
import { kModes, State, type Mode } from "./state";

const kTitles: Record<Mode, string> = {
  heat: "Heat map",
  lines: "Lines",
  text: "Text",
  grid: "All heads",
  table: "Statistics",
  alignment: "Alignment",
};
const kHints: Record<Mode, string> = {
  heat: "Point at a cell, or move with the arrow keys.",
  lines: "Point at a token, or move with the arrow keys.",
  text: "Point at a token, or move with the arrow keys.",
  grid: "Each square is a head: rows attend to columns. Choose one to see it large.",
  table: "Choose a head to see it, or a heading to sort by it.",
  alignment: "Point at a word to see the words that it is aligned with.",
};
/** What queries and keys are, if they are not the same tokens. */
const kSides: Partial<Record<ViewData["name"], [string, string]>> = {
  cross: ["Translation", "Source"],
  memory: ["Hops", "Sentences"],
};
const kKeys = [
  ["[ ]", "layer"],
  [", .", "head"],
  ["1 … 6", "kind of picture"],
  ["w", "words or tokens"],
  ["arrows", "token"],
];

const app = document.getElementById("app")!;
const state = new State(readMaps());

let scene: Scene | null = null;
let focus: Focus = kNowhere;
let pinned: number | null = null;
const matrices = new Cache<Matrix>(64);

const limit = () => Math.max(260, innerHeight * 0.72);
const heat = new HeatMap(point, limit);
const lines = new Lines(point, limit);
const queryTokens = new Tokens("Queries: the tokens that attend", {
  point: (query) => point({ query, key: null }),
  pick: (query) => {
    pinned = pinned === query ? null : query;
    queryTokens.press(pinned);
    point({ query, key: null });
  },
});
const keyTokens = new Tokens("Keys: the tokens that are attended to", { point: (key) => point({ query: null, key }) });
const grid = new Thumbnails(open, false, 200);
const table = new StatisticsTable((layer, head) => open(layer, head));
const pairs = new Alignment((side, word, _weights, aligned) => {
  if (side) say([h("b", {}, pairs.word(side, word)), aligned.length ? ` ↔ ${aligned.join(" · ")}` : " ↔ nothing"]);
  else say(null);
});

const given = h("p", { class: "given" });
const controls = h("div", { class: "controls", role: "group", "aria-label": "What is shown" });
const tabs = h("div", { role: "tablist", "aria-label": "Kind of picture" });
const status = h("p", { class: "readout", role: "status" });
const panel = h("section", { class: "panel", role: "tabpanel", id: "panel" });

/** Shows one head alone. */
function open(layer: number, head: number): void {
  state.layer = layer;
  state.heads = new Set([head]);
  state.mode = "heat";
  update();
}

const id = (layer: Layer) => `w-${state.map}-${state.view}-${layer}`;
const stored = (layer: Layer, head: number | null): Matrix =>
  matrices.get(`${id(layer)}-${head}`, () => matrixOf(state.viewData, id(layer), layer, head));

function makeScene(): Scene {
  const view = state.viewData;
  const { layer } = state;
  const queries = groups(view.queries, view.queryWords, state.words, state.specials);
  const keys = groups(view.keys, view.keyWords, state.words, state.specials);
  const one = (head: number | null): Matrix =>
    matrices.get(`${id(layer)}-${head}-${state.words}-${state.specials}`, () =>
      regroup(stored(layer, head), queries, keys),
    );
  const several = typeof layer === "number" && view.heads.length > 1;
  const chosen = several ? [...(state.heads ?? view.heads.keys())].sort((a, b) => a - b) : [];
  const heads = several
    ? chosen.map((head) => ({ head: view.heads[head], matrix: one(head) }))
    : [{ head: null, matrix: one(null) }];
  return {
    title: "", // the text is above the controls
    queries: queries.map(({ label }) => label),
    keys: keys.map(({ label }) => label),
    heads,
    mean: several && state.heads ? mean(heads.map(({ matrix }) => matrix)) : one(null),
    same: view.sameTokens,
  };
}

const hint = (): string =>
  state.viewData.name === "memory" ? kHints[state.mode].replace("token", "hop or a sentence") : kHints[state.mode];

function say(sentence: (Node | string)[] | null): void {
  if (sentence) status.replaceChildren(...sentence);
  else status.textContent = `${state.heading()}. ${hint()}`;
}

/** Selects a token or a cell in the picture that is shown. */
function point(next: Focus): void {
  if (next.query === null && next.key === null && pinned !== null) next = { query: pinned, key: null };
  focus = next;
  if (!scene) return;
  if (state.mode === "heat") heat.point(focus);
  if (state.mode === "lines") lines.point(focus);
  if (state.mode === "text") shadeTokens(scene, focus, queryTokens, keyTokens);
  say(readout(scene, focus));
}

const kShow: Record<Mode, () => HTMLElement[]> = {
  heat: () => [heat.element],
  lines: () => [lines.element],
  text: () => {
    const [asks, answers] = kSides[state.viewData.name] ?? ["Queries", "Keys"];
    if (scene!.same) return [queryTokens.element];
    return [h("h2", {}, asks), queryTokens.element, h("h2", {}, answers), keyTokens.element];
  },
  grid: () => [grid.element],
  table: () => [table.element],
  alignment: () => [h("h2", {}, "Words of the source, and of the translation"), pairs.element],
};

/** Fills the picture; it is in the page already, so that it knows its width. */
function fill(): void {
  const view = state.viewData;
  if (state.mode === "heat") heat.show(scene!);
  if (state.mode === "lines") lines.show(scene!);
  if (state.mode === "text") {
    queryTokens.show(scene!.queries);
    queryTokens.press(pinned);
    keyTokens.show(scene!.same ? [] : scene!.keys);
    if (focus.query === null && focus.key === null)
      focus = { query: Math.min(1, scene!.queries.length - 1), key: null };
  }
  if (state.mode === "grid") {
    grid.reset({ layers: view.layers, heads: view.heads, matrix: (layer, head) => stored(layer, head) });
    view.layers.forEach((_, layer) =>
      grid.show(
        layer,
        view.heads.map((_, head) => habit(statisticsOf(view, layer, head))),
      ),
    );
    const layer = typeof state.layer === "number" ? state.layer : -1;
    grid.mark(layer, state.heads ?? new Set(view.heads.keys()));
  }
  if (state.mode === "table")
    table.show(
      view.layers.flatMap((number, layer) =>
        view.heads.map((name, head) => ({
          layer,
          head,
          name: `${number}.${name}`,
          statistics: statisticsOf(view, layer, head),
        })),
      ),
    );
  if (state.mode === "alignment") {
    const split = (text: string) => text.split(/\s+/).filter(Boolean);
    const { text, translation, alignments } = state.mapData;
    pairs.show(split(text), split(translation ?? ""), alignments ?? []);
  }
}

/** A new choice of what is shown: nothing is selected in it. */
function change(work: () => void): void {
  work();
  focus = kNowhere;
  pinned = null;
  update();
}

function choice(name: string, options: [string, string][], value: string, take: (value: string) => void): HTMLElement {
  const control = select(
    options.map(([value, label]) => ({ value, label })),
    value,
    take,
  );
  control.id = `choose-${name}`;
  return field(name, control);
}

function drawControls(): void {
  const view = state.viewData;
  const { maps } = state;
  const parts: HTMLElement[] = [];
  if (maps.length > 1) {
    const turn = (by: number) => change(() => state.changeMap(state.map + by));
    const texts = choice(
      "Text",
      maps.map((map, i) => [String(i), `${i + 1}. ${nameOf(map).slice(0, 60)}`]),
      String(state.map),
      (value) => change(() => state.changeMap(Number(value))),
    );
    const button = (text: string, label: string, by: number) =>
      h("button", { type: "button", "aria-label": label, onclick: () => turn(by) }, text);
    const select = texts.querySelector("select")!;
    texts.append(h("div", { class: "turn" }, select, button("‹", "Previous text", -1), button("›", "Next text", 1)));
    parts.push(texts);
  }
  if (state.mapData.views.length > 1)
    parts.push(
      choice(
        "View",
        state.mapData.views.map(({ name }, i) => [String(i), name]),
        String(state.view),
        (value) => change(() => state.changeView(Number(value))),
      ),
    );
  const layerNames = { mean: "mean of all", rollout: "roll-out" };
  if (state.allLayers.length > 1)
    parts.push(
      choice(
        "Layer",
        state.allLayers.map((layer) => [
          String(layer),
          typeof layer === "number" ? String(view.layers[layer]) : layerNames[layer],
        ]),
        String(state.layer),
        (value) => {
          state.layer = view.together.find((name) => name === value) ?? Number(value);
          update();
        },
      ),
    );
  const { layer } = state;
  if (view.heads.length > 1 && typeof layer === "number")
    parts.push(
      headBar(
        view.heads,
        state.heads,
        (heads) => {
          state.heads = heads;
          update();
        },
        view.heads.map((_, head) => habit(statisticsOf(view, layer, head))),
      ),
    );
  const words = [view.queryWords, view.keyWords];
  if (words.some((side) => side.some((word, i) => i > 0 && word >= 0 && word === side[i - 1])))
    parts.push(toggle("Words", state.words, (on) => change(() => (state.words = on))));
  if (words.some((side) => side.some((word) => word < 0)) && words.every((side) => side.some((word) => word >= 0)))
    parts.push(toggle("Special tokens", state.specials, (on) => change(() => (state.specials = on))));
  // The control that had the focus has it again.
  const named = (element: Element | null) => element?.getAttribute("aria-label") ?? (element?.id || null);
  const focused = controls.contains(document.activeElement) ? named(document.activeElement) : null;
  const at = [...controls.querySelectorAll("input")].indexOf(document.activeElement as HTMLInputElement);
  controls.replaceChildren(...parts);
  if (at >= 0) controls.querySelectorAll("input")[at]?.focus();
  else if (focused)
    [...controls.querySelectorAll<HTMLElement>("button, select")].find((e) => named(e) === focused)?.focus();
}

const fitting = () => kModes.filter((mode) => state.fits(mode));

function drawTabs(): void {
  const held = tabs.contains(document.activeElement);
  tabs.replaceChildren(
    ...fitting().map((mode) =>
      h(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${mode}`,
          "aria-controls": "panel",
          "aria-selected": String(mode === state.mode),
          tabIndex: mode === state.mode ? 0 : -1,
          onclick: () => setMode(mode),
        },
        kTitles[mode],
      ),
    ),
  );
  panel.setAttribute("aria-labelledby", `tab-${state.mode}`);
  const chosen = tabs.querySelector<HTMLElement>("[aria-selected=true]")!;
  if (held) chosen.focus();
  tabs.scrollLeft = Math.max(0, chosen.offsetLeft + chosen.offsetWidth - tabs.offsetLeft - tabs.clientWidth + 8);
}

function setMode(mode: Mode): void {
  state.mode = mode;
  update();
}

function drawGiven(): void {
  const { text, translation, generatedText, score, truncated } = state.mapData;
  given.replaceChildren(
    h("b", {}, text),
    ...(translation !== undefined ? [" → ", h("b", {}, translation)] : []),
    ...(generatedText !== undefined ? [h("span", { class: "added", title: "generated" }, generatedText)] : []),
    ...(score !== undefined ? [` (score ${score.toFixed(2).replace("-0.00", "0.00")})`] : []),
    ...(truncated
      ? [h("span", { class: "cut" }, ` (${truncated} tokens were cut: the text is longer than the model's limit)`)]
      : []),
  );
}

/** Draws everything anew from the state. */
function update(): void {
  if (!state.fits(state.mode)) state.mode = "heat";
  scene = makeScene();
  drawGiven();
  drawControls();
  drawTabs();
  panel.replaceChildren(...kShow[state.mode]());
  fill();
  point(focus);
  state.writeAddress();
}

function recolour(): void {
  drawControls();
  fill();
  if (state.mode === "grid") grid.recolour();
  point(focus);
  state.writeAddress();
}

tabs.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by) return;
  event.preventDefault();
  event.stopPropagation();
  const all = fitting();
  setMode(all[(all.indexOf(state.mode) + by + all.length) % all.length]);
});

document.addEventListener("keydown", (event) => {
  const within = event.target as Element | null;
  if (event.ctrlKey || event.altKey || event.metaKey || within?.closest("select")) return;
  const inside = panel.contains(document.activeElement);
  if (event.key === "[") state.turnLayer(-1);
  else if (event.key === "]") state.turnLayer(1);
  else if (event.key === ",") state.turnHead(-1);
  else if (event.key === ".") state.turnHead(1);
  else if (event.key === "w") {
    state.words = !state.words;
    focus = kNowhere;
    pinned = null;
  } else if (/^[1-9]$/.test(event.key) && fitting()[Number(event.key) - 1])
    state.mode = fitting()[Number(event.key) - 1];
  else return;
  event.preventDefault();
  update();
  if (inside) panel.querySelector<HTMLElement>("[tabindex='0']")?.focus();
});

app.replaceChildren(
  h(
    "header",
    { class: "top" },
    h("h1", {}, document.title),
    state.maps.length ? h("span", { class: "note" }, state.maps[0].kind) : null,
    themeButton(recolour),
  ),
);
if (state.maps.length === 0) {
  app.append(h("p", {}, "There is no attention on this page."));
} else {
  const keys = h(
    "p",
    {},
    kKeys.map(([key, meaning]) => h("span", {}, h("kbd", {}, key), ` ${meaning}`)),
  );
  app.append(given, controls, tabs, status, panel, h("details", { class: "keys" }, h("summary", {}, "Keys"), keys));
  addEventListener("hashchange", () => {
    state.readAddress();
    update();
  });
  state.readAddress();
  update();
  // The time of the first picture, for benchmarks: drawn, and then on the screen.
  const ready = () => (document.documentElement.dataset["ready"] = String(Math.round(performance.now())));
  ready();
  requestAnimationFrame(() => requestAnimationFrame(ready));
}
