// All layers and heads: as small pictures, and in numbers.

function showGrid(host) {
  const v = view(), side = innerWidth < 480 ? 52 : clamp(Math.floor((Math.min(innerWidth, 1280) - 140) / v.heads.length) - 6, 44, 120);
  const grid = make("div", { className: "grid", role: "group", "aria-label": "All layers and heads. Arrow keys move." });
  grid.style.gridTemplateColumns = `max-content repeat(${v.heads.length}, ${side}px)`;
  grid.append(make("div", { className: "name" }), ...v.heads.map(h => make("div", { className: "name over", textContent: `head ${h}`.slice(side < 60 ? 5 : 0) })));
  const thumbs = new Map(), buttons = [];
  const watch = new IntersectionObserver(entries => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting) watch.unobserve(target), drawThumb(target.querySelector("canvas"), ...thumbs.get(target), side);
  }, { rootMargin: "200px" });
  for (let l = 0; l < v.layers.length; ++l) {
    grid.append(make("div", { className: "name", textContent: `layer ${v.layers[l]}` }));
    for (let h = 0; h < v.heads.length; ++h) {
      const chosen = l === state.layer && state.heads.length === 1 && state.heads[0] === h;
      const button = make("button", { tabIndex: -1, "aria-label": `layer ${v.layers[l]}, head ${v.heads[h]}${kindOf(l, h)}`,
        title: `layer ${v.layers[l]}, head ${v.heads[h]}${kindOf(l, h)}`, "aria-pressed": String(chosen),
        onclick: () => { state.layer = l, state.heads = [h], state.mode = "heat", update(); } }, make("canvas"));
      thumbs.set(button, [l, h]);
      buttons.push(button);
      grid.append(button);
      watch.observe(button);
    }
  }
  // One stop for the Tab key, as everywhere: the arrow keys go on from there.
  const focused = buttons.findIndex(button => button.getAttribute("aria-pressed") === "true");
  buttons[Math.max(focused, 0)].tabIndex = 0;
  grid.addEventListener("keydown", event => {
    const by = { ArrowUp: -v.heads.length, ArrowDown: v.heads.length, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = buttons[buttons.indexOf(event.target) + by];
    if (by === undefined) return;
    event.preventDefault();
    if (!next) return;
    event.target.tabIndex = -1, next.tabIndex = 0;
    next.focus();
  });
  host.append(grid, make("div", { className: "legend" }, "Each square is a head: rows look at columns. Choose one to see it large."));
}
/// The strongest of the cells that share a pixel.
function drawThumb(canvas, layer, head, side) {
  const { queries: { length: Q }, keys: { length: K } } = view();
  const rows = Math.min(Q, side), columns = Math.min(K, side), values = new Float32Array(rows * columns);
  eachWeight(layer, head, (q, k, w) => {
    const at = Math.floor(q * rows / Q) * columns + Math.floor(k * columns / K);
    if (w > values[at]) values[at] = w;
  });
  const image = imageOf(values, rows, columns), dpr = devicePixelRatio || 1;
  canvas.width = canvas.height = Math.round(side * dpr);
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
}

// ---- what the heads do, in numbers ----

const measures = ["entropy", "distance", "previous", "self", "next", "first", "separator", "same word"];
const statistics = (l, h) => view().statistics[l * view().heads.length + h];
/// ": mostly the previous token (0.83)", where one thing takes more than half.
function kindOf(l, h) {
  const s = statistics(l, h);
  for (const i of [2, 3, 4, 5, 6, 7])
    if (s[i] > 0.5) return `: mostly ${["the previous token", "the token itself", "the next token", "the first token", "separators", "the same word"][i - 2]} (${s[i].toFixed(2)})`;
  return "";
}
let sortBy = -1, descending = true;
function showTable(host) {
  const v = view(), shown = measures.map((_, i) => i).filter(i => statistics(0, 0)[i] !== null);
  const rows = [];
  for (let l = 0; l < v.layers.length; ++l) for (let h = 0; h < v.heads.length; ++h) rows.push({ l, h, s: statistics(l, h) });
  if (sortBy >= 0) rows.sort((a, b) => (descending ? -1 : 1) * (a.s[sortBy] - b.s[sortBy]));
  const body = make("tbody");
  for (const { l, h, s } of rows) {
    const open = () => { state.layer = l, state.heads = [h], state.mode = "heat", update(); };
    const row = make("tr", { onclick: open }, make("td", {}, make("button", { textContent: `${v.layers[l]}.${v.heads[h]}`, "aria-label": `layer ${v.layers[l]}, head ${v.heads[h]}` })));
    for (const i of shown) {
      const cell = make("td", { textContent: s[i].toFixed(i === 1 ? 1 : 2) });
      if (i >= 2) cell.style.background = `rgb(${colours.hot} / ${(Math.sqrt(s[i]) * 0.4).toFixed(3)})`;
      row.append(cell);
    }
    body.append(row);
  }
  const header = make("tr", {}, make("th", { scope: "col", textContent: "layer.head" }), ...shown.map(i =>
    make("th", { scope: "col", "aria-sort": sortBy === i ? (descending ? "descending" : "ascending") : "none" },
      make("button", { textContent: measures[i] + (sortBy === i ? (descending ? " ↓" : " ↑") : ""), onclick: () => {
        descending = sortBy === i ? !descending : true, sortBy = i, update();
        host.querySelectorAll("th button")[shown.indexOf(i)].focus();
      } }))));
  host.append(make("div", { className: "scroll" }, make("table", {}, make("thead", {}, header), body)),
    make("div", { className: "legend" }, "Entropy in bits, distance in tokens; the others are shares of the weight."));
}
