// Words of the source opposite those of the translation.

function showPairs(host) {
  const source = map().text.split(/\s+/).filter(Boolean), target = map().translation.split(/\s+/).filter(Boolean);
  const lines = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const word = (text, i, side) => make("button", { className: "word", textContent: text, onpointerenter: () => mark(i, side),
    onfocus: () => mark(i, side), onpointerleave: () => mark(-1, side), onblur: () => mark(-1, side) });
  const above = source.map((w, i) => word(w, i, 0)), below = target.map((w, i) => word(w, i, 1));
  const box = make("div", { className: "pairs" }, make("div", { className: "row" }, ...above), lines, make("div", { className: "row" }, ...below));
  const paths = map().alignments.map(pair => ({ pair, path: document.createElementNS("http://www.w3.org/2000/svg", "path") }));
  const mark = (i, side) => {
    for (const { pair, path } of paths) {
      path.classList.toggle("on", i >= 0 && pair[side] === i), path.classList.toggle("off", i >= 0 && pair[side] !== i);
    }
    const on = new Set(paths.filter(({ pair }) => i >= 0 && pair[side] === i).map(({ pair }) => pair[1 - side]));
    (side ? above : below).forEach((w, j) => w.classList.toggle("on", on.has(j)));
    if (i < 0) return describe();
    const others = [...on].map(j => `“${(side ? source : target)[j]}”`).join(", ");
    status.textContent = `“${(side ? target : source)[i]}” ↔ ${others || "nothing"}`;
  };
  const draw = () => {
    const { left, top } = box.getBoundingClientRect();
    lines.setAttribute("width", box.scrollWidth), lines.setAttribute("height", box.clientHeight);
    for (const { pair: [s, t], path } of paths) {
      if (!above[s] || !below[t]) continue;
      const a = above[s].getBoundingClientRect(), b = below[t].getBoundingClientRect();
      const x = r => r.left + r.width / 2 - left + box.scrollLeft, from = a.bottom - top, to = b.top - top;
      path.setAttribute("d", `M${x(a)},${from}C${x(a)},${(from + to) / 2} ${x(b)},${(from + to) / 2} ${x(b)},${to}`);
    }
  };
  lines.append(...paths.map(({ path }) => path));
  host.append(make("h2", { textContent: "Source, and below it the translation" }), box);
  draw();
  onResize = draw;
}
