// What all pictures are made of: elements, colours, the sentence about the chosen token, and a canvas to scroll in.

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties))
    if (name in element) element[name] = value; else element.setAttribute(name, value);
  element.append(...children);
  return element;
}
/// The colours of the style sheet, read once for all that is drawn until they change.
const colours = {};
const rgbOf = name => colours[name].split(" ").map(Number);
const figureOf = w => w >= 0.0995 ? w.toFixed(2) : w.toFixed(3);
const headColour = (i, alpha = 1) =>
  `hsl(${(210 + i * 137.5) % 360} 70% ${root.dataset.dark === "1" ? 66 : 42}% / ${alpha})`;

/// 256 steps from cold to hot, as ImageData's pixels. The root makes small weights visible: most are.
const ramp = new Uint32Array(256);
function readColours() {
  const style = getComputedStyle(root);
  for (const name of ["ground", "ink", "line", "mark", "cold", "hot"]) colours[name] = style.getPropertyValue(`--${name}`).trim();
  root.dataset.dark = colours.ground.startsWith("#1") ? "1" : "0";
  const cold = rgbOf("cold"), hot = rgbOf("hot");
  for (let i = 0; i < 256; ++i) {
    const c = cold.map((from, channel) => Math.round(from + (hot[channel] - from) * Math.sqrt(i / 255)));
    ramp[i] = 0xff000000 | c[2] << 16 | c[1] << 8 | c[0];
  }
}
function imageOf(values, rows, columns, full = fullScale(values, columns)) {
  const canvas = make("canvas", { width: Math.max(columns, 1), height: Math.max(rows, 1) });
  const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer), scale = 255 / full;
  for (let i = 0; i < values.length; ++i) pixels[i] = ramp[Math.min(255, values[i] * scale + 0.5 | 0)];
  context.putImageData(image, 0, 0);
  return canvas;
}

const tip = make("div", { className: "tip", hidden: true });
function showTip(event, text) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4))}px`;
  tip.style.top = `${event.clientY + height + 24 > innerHeight ? event.clientY - height - 10 : event.clientY + 16}px`;
}

const status = make("p", { className: "status", role: "status" });
/// The chosen token in words, for those who read, and for those who listen.
function describe() {
  const { queries, keys } = sides, K = keys.labels.length;
  const ofTokens = ["heat", "lines", "text"].includes(state.mode);
  if (!ofTokens || state.query < 0 || state.query >= queries.labels.length) {
    status.textContent = `${heading()}. ${modes.find(m => m.name === state.mode).hint}`;
    return;
  }
  const row = chosenMatrix().subarray(state.query * K, (state.query + 1) * K);
  const order = [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, 5).filter(k => row[k] > 0);
  const most = order.map(k => `“${keys.labels[k]}” ${figureOf(row[k])}`).join(", ");
  const at = state.key >= 0 && state.key < K ? ` at “${keys.labels[state.key]}” with ${figureOf(row[state.key])};` : "";
  status.textContent = most ? `“${queries.labels[state.query]}” looks${at} most at ${most}.`
                            : `“${queries.labels[state.query]}” looks at nothing.`;
}
/// The same of a token that is looked at.
function describeIncoming(key) {
  const { queries, keys } = sides, K = keys.labels.length, values = chosenMatrix();
  const order = [...queries.labels.keys()].sort((a, b) => values[b * K + key] - values[a * K + key]).slice(0, 5);
  const most = order.filter(q => values[q * K + key] > 0).map(q => `“${queries.labels[q]}” ${figureOf(values[q * K + key])}`);
  status.textContent = `“${keys.labels[key]}” is looked at ${most.length ? `most by ${most.join(", ")}` : "by nothing"}.`;
}
function heading() {
  const v = view(), heads = !isOne(state.layer) ? "" : state.heads.length === 0
    ? (v.heads.length > 1 ? `, mean of ${v.heads.length} heads` : "")
    : `, head${state.heads.length > 1 ? "s" : ""} ${state.heads.map(h => v.heads[h]).join(", ")}`;
  return `${v.name[0].toUpperCase()}${v.name.slice(1)} attention, ${layerName(state.layer)}${heads}`;
}

/// What to do when the page gets another width: each picture sets its own, in the place of the one before.
let onResize = () => {};

/// A canvas as large as its window onto something larger: what is scrolled to is drawn, nothing else exists.
function board({ width, height, draw, move, label }) {
  const canvas = make("canvas"), sizer = make("div", { className: "sizer" }, canvas);
  const box = make("div", { className: "board", tabIndex: 0, role: "application", "aria-label": label }, sizer);
  let waiting = 0;
  const paint = () => {
    waiting = 0;
    const w = box.clientWidth, h = box.clientHeight, dpr = devicePixelRatio || 1;
    if (canvas.width !== Math.round(w * dpr) || canvas.height !== Math.round(h * dpr)) {
      canvas.width = Math.round(w * dpr), canvas.height = Math.round(h * dpr);
      canvas.style.width = `${w}px`, canvas.style.height = `${h}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(dpr, 0, 0, dpr, 0, 0);
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, w, h);
    draw(context, { x: box.scrollLeft, y: box.scrollTop, w, h });
  };
  const ask = () => { waiting ||= requestAnimationFrame(paint); };
  const fit = () => {
    const window = { width: box.parentElement.clientWidth - 2, height: Math.max(260, innerHeight * 0.72) };
    const wide = width(window.width), tall = height(window.width), scrolls = wide > window.width ? 18 : 0;
    box.style.width = `${Math.min(wide, window.width) + 2}px`;
    box.style.height = `${Math.min(tall + scrolls + 2, window.height)}px`;
    sizer.style.width = wide > window.width ? `${wide}px` : "100%", sizer.style.height = `${tall}px`;
    paint();  // at once: an empty frame would flicker
  };
  box.addEventListener("scroll", ask, { passive: true });
  const at = event => {
    const { left, top } = box.getBoundingClientRect();
    return { x: event.clientX - left - box.clientLeft, y: event.clientY - top - box.clientTop };
  };
  box.addEventListener("pointermove", event => { move.point(at(event), box, event), ask(); });
  box.addEventListener("pointerdown", event => { move.point(at(event), box, event), ask(); });
  box.addEventListener("pointerleave", event => { showTip(event, ""); });
  box.addEventListener("keydown", event => {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!steps || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    move.step(...steps, box), ask();
  });
  box.addEventListener("focus", () => { if (state.query < 0) move.step(0, 0, box), ask(); });
  onResize = fit;
  return { box, fit, ask };
}
/// The label, shortened until it fits.
function fitting(context, label, room) {
  while (label.length > 1 && context.measureText(label).width > room) label = label.slice(0, -2) + "…";
  return label;
}
const clamp = (n, low, high) => Math.max(low, Math.min(high, n));
/// Moves the chosen cell.
function stepTo(rows, columns) {
  state.query = clamp((state.query < 0 ? 0 : state.query) + rows, 0, sides.queries.labels.length - 1);
  state.key = clamp((state.key < 0 ? 0 : state.key) + columns, 0, sides.keys.labels.length - 1);
  describe();
}
