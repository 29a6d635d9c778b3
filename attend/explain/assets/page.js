// The page around the pictures: what is chosen, by mouse and by keyboard.

const modes = [
  { name: "heat", title: "Heat map", hint: "Point at a cell, or move with the arrow keys.", show: showHeat, fits: () => true },
  { name: "lines", title: "Lines", hint: "Point at a token, or move with the arrow keys.", show: showLines, fits: () => true },
  { name: "text", title: "Text", hint: "Point at a token, or move with the arrow keys.", show: showText, fits: () => true },
  { name: "grid", title: "All heads", hint: "Choose a head to see it large.", show: showGrid, fits: () => view().layers.length * view().heads.length > 1 },
  { name: "table", title: "Statistics", hint: "Choose a head to see it, or a heading to sort by it.", show: showTable, fits: () => true },
  { name: "alignment", title: "Alignment", hint: "Point at a word to see its partners.", show: showPairs, fits: () => (map().alignments ?? []).length > 0 },
];

const app = document.getElementById("app");
const given = make("p", { className: "given" });
const controls = make("div", { className: "controls" });
const tabs = make("div", { role: "tablist", "aria-label": "Kind of picture" });
const host = make("section", { role: "tabpanel", id: "panel" });

function choice(name, options, chosen, take) {
  const select = make("select", { id: `choose-${name}`, onchange: () => take(select.value) },
    ...options.map(([value, text]) => make("option", { value, textContent: text, selected: String(value) === String(chosen) })));
  return make("div", {}, make("label", { className: "name", htmlFor: select.id, textContent: name }), select);
}
function changeView(place) {
  state.view = place;
  state.layer = view().first;
  state.heads = [], state.query = state.key = -1, state.zoom = 0;
}
/// Another text, or another hypothesis of the same, at the same place if it has it.
function changeMap(place) {
  const before = view(), { layer, heads } = state;
  state.map = place;
  const same = map().views.findIndex(v => v.name === before.name);
  changeView(same >= 0 ? same : map().main);
  if (String(view().layers) === String(before.layers) && String(view().heads) === String(before.heads))
    state.layer = layer, state.heads = heads;
}
/// What tells a text from the others: of hypotheses, that is what was said.
const nameOf = m => m.translation ?? (m.generatedText !== undefined ? `…${m.generatedText}` : m.text);

function drawControls() {
  const v = view(), parts = [];
  if (maps.length > 1) {
    const turn = by => { changeMap((state.map + by + maps.length) % maps.length), update(); };
    const texts = choice("Text", maps.map((m, i) => [i, `${i + 1}. ${nameOf(m).slice(0, 60)}`]), state.map,
                         value => { changeMap(Number(value)), update(); });
    texts.querySelector("select").style.maxWidth = "min(20rem, 55vw)";
    texts.append(make("button", { textContent: "‹", "aria-label": "Previous text", onclick: () => turn(-1) }),
                 make("button", { textContent: "›", "aria-label": "Next text", onclick: () => turn(1) }));
    parts.push(texts);
  }
  if (map().views.length > 1)
    parts.push(choice("View", map().views.map((one, i) => [i, one.name]), state.view, value => { changeView(Number(value)), update(); }));
  const layers = v.layers.map((layer, i) => [i, String(layer)]);
  for (const name of v.together) layers.push([name, { mean: "mean of all", rollout: "roll-out" }[name]]);
  if (layers.length > 1)
    parts.push(choice("Layer", layers, state.layer, value => { state.layer = v.together.includes(value) ? value : Number(value), update(); }));
  if (v.heads.length > 1 && isOne(state.layer)) {
    const buttons = [make("button", { textContent: "mean", "aria-label": "mean of all heads", "aria-pressed": String(state.heads.length === 0),
      onclick: () => { state.heads = [], update(); } })];
    v.heads.forEach((head, h) => {
      const on = state.heads.includes(h);
      const button = make("button", { textContent: head, "aria-pressed": String(on), title: `head ${head}${kindOf(state.layer, h)}`,
        "aria-label": `head ${head}`, onclick: event => {
          if (event.shiftKey || event.ctrlKey || event.metaKey) state.heads = on ? state.heads.filter(i => i !== h) : [...state.heads, h].sort((a, b) => a - b);
          else state.heads = on && state.heads.length === 1 ? [] : [h];
          update();
        } });
      button.style.borderBottomColor = headColour(h);
      buttons.push(button);
    });
    parts.push(make("div", { className: "heads", role: "group", "aria-label": "Heads; shift-click chooses several" }, make("span", { className: "name", textContent: "Head" }), ...buttons));
  }
  parts.push(make("div", {}, make("button", { id: "choose-words", textContent: "words", title: "Words instead of tokens", "aria-pressed": String(state.words),
    onclick: () => { state.words = !state.words, state.query = state.key = -1, update(); } })));
  const focused = document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.id;
  controls.replaceChildren(...parts);
  if (focused) [...controls.querySelectorAll("button, select")].find(e => e.id === focused || e.getAttribute("aria-label") === focused)?.focus();
}

function drawTabs() {
  const fitting = modes.filter(m => m.fits()), held = tabs.contains(document.activeElement);
  tabs.replaceChildren(...fitting.map(m => make("button", { role: "tab", id: `tab-${m.name}`, textContent: m.title, "aria-controls": "panel",
    "aria-selected": String(m.name === state.mode), tabIndex: m.name === state.mode ? 0 : -1,
    onclick: () => { state.mode = m.name, update(); } })));
  host.setAttribute("aria-labelledby", `tab-${state.mode}`);
  const chosen = tabs.querySelector("[aria-selected=true]");
  if (held) chosen.focus();
  tabs.scrollLeft = Math.max(0, chosen.offsetLeft + chosen.offsetWidth - tabs.offsetLeft - tabs.clientWidth + 8);
}
tabs.addEventListener("keydown", event => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by) return;
  event.preventDefault(), event.stopPropagation();
  const fitting = modes.filter(m => m.fits()), now = fitting.findIndex(m => m.name === state.mode);
  state.mode = fitting[(now + by + fitting.length) % fitting.length].name;
  update();
});

function drawGiven() {
  const m = map(), bold = text => make("b", { textContent: text });
  given.replaceChildren(bold(m.text), ...(m.translation !== undefined ? [" → ", bold(m.translation)] : []),
    ...(m.generatedText !== undefined ? [make("span", { textContent: m.generatedText, title: "what the model wrote" })] : []),
    ...(m.score !== undefined ? [make("span", { textContent: ` (score ${m.score.toFixed(2)})` })] : []),
    ...(m.truncated ? [make("span", { className: "note", textContent: ` (${m.truncated} tokens were cut off: the model takes no more)` })] : []));
}

function update() {
  if (!modes.find(m => m.name === state.mode).fits()) state.mode = "heat";
  theme.textContent = `theme: ${root.dataset.theme ?? "auto"}`;
  readColours();
  findSides();
  drawGiven(), drawControls(), drawTabs();
  tip.hidden = true;
  host.replaceChildren(), onResize = () => {};
  modes.find(m => m.name === state.mode).show(host);
  describe();
  writeAddress();
}

const themes = ["auto", "light", "dark"];
const theme = make("button", { className: "quiet", textContent: "theme", onclick: () => {
  const next = themes[(themes.indexOf(root.dataset.theme ?? "auto") + 1) % 3];
  if (next === "auto") delete root.dataset.theme; else root.dataset.theme = next;
  update();
} });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("select")) return;
  const v = view();
  const turnHead = by => {  // mean, 0, 1, … and round
    const now = state.heads.length ? state.heads[0] : -1, count = v.heads.length + 1, to = (now + 1 + by + count) % count - 1;
    state.heads = to < 0 ? [] : [to];
  };
  const turnLayer = by => {
    const all = [...v.layers.keys(), ...v.together];
    state.layer = all[(all.indexOf(state.layer) + by + all.length) % all.length];
  };
  const fitting = modes.filter(m => m.fits());
  if (event.key === "[") turnLayer(-1);
  else if (event.key === "]") turnLayer(1);
  else if (event.key === ",") turnHead(-1);
  else if (event.key === ".") turnHead(1);
  else if (event.key === "w") state.words = !state.words, state.query = state.key = -1;
  else if (/^[1-9]$/.test(event.key) && fitting[event.key - 1]) state.mode = fitting[event.key - 1].name;
  else return;
  event.preventDefault();
  const inside = host.contains(document.activeElement);
  update();
  if (inside) host.querySelector("[tabindex='0']")?.focus();
});

const keys = make("details", {}, make("summary", { textContent: "Keys" }));
for (const [key, meaning] of [["[ ]", "layer"], [", .", "head"], ["1 … 6", "kind of picture"], ["w", "words or tokens"], ["arrows", "token"]])
  keys.append(make("kbd", { textContent: key }), ` ${meaning}   `);

app.replaceChildren(
  make("header", {}, make("h1", { textContent: document.title }), make("span", { className: "model", textContent: maps.length ? maps[0].kind : "" }), theme));
function begin() {
  app.append(given, controls, tabs, status, host, keys, tip);
  addEventListener("hashchange", () => { readAddress(), update(); });
  readAddress();
  update();
  new ResizeObserver(() => onResize()).observe(host);
  // When the first picture was there, for those who measure: drawn, and then shown.
  const ready = () => { root.dataset.ready = Math.round(performance.now()); };
  ready();
  requestAnimationFrame(() => requestAnimationFrame(ready));
}
if (maps.length > 0) begin();
else app.append(make("p", { textContent: "There is no attention on this page." }));
