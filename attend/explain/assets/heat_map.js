// The heat map: a row for each token that looks, a column for each that is looked at.

function showHeat(host) {
  const { queries, keys } = sides, Q = queries.labels.length, K = keys.labels.length;
  const values = chosenMatrix(), most = fullScale(values, K), image = imageOf(values, Q, K, most);
  const measure = make("canvas").getContext("2d");
  measure.font = "13px system-ui, sans-serif";
  const widest = labels => {  // the longest by letters are measured: of a long text, not all
    const longest = labels.length < 40 ? labels : [...labels].sort((a, b) => b.length - a.length).slice(0, 20);
    return longest.reduce((most, label) => Math.max(most, measure.measureText(label).width), 0);
  };
  const narrow = innerWidth < 480;
  const left = Math.min(widest(queries.labels) + 14, narrow ? 84 : 150);
  const top = Math.min(widest(keys.labels) * 0.87 + 16, narrow ? 76 : 120);
  // As large as the window allows, up to where numbers can be read in the cells.
  const cellIn = w => state.zoom > 0 ? state.zoom
    : clamp(Math.min((w - left - 14) / K, Math.max((innerHeight * 0.72 - top - 8) / Q, 18)), 0.5, 44);
  let cell = 16;
  const cellAt = ({ x, y }, box) => ({
    row: y < top ? -1 : Math.floor((y - top + box.scrollTop) / cell),
    column: x < left ? -1 : Math.floor((x - left + box.scrollLeft) / cell),
  });
  const surface = board({
    label: `Heat map: ${heading()}. Rows look at columns. Arrow keys move.`,
    width: w => (cell = cellIn(w), Math.ceil(left + K * cell + 10)),
    height: w => (cell = cellIn(w), Math.ceil(top + Q * cell + 6)),
    draw(context, { x, y, w, h }) {
      const first = { r: Math.floor(y / cell), c: Math.floor(x / cell) };
      const last = { r: Math.min(Q, Math.ceil((y + h - top) / cell)), c: Math.min(K, Math.ceil((x + w - left) / cell)) };
      context.save();
      context.beginPath();
      context.rect(left, top, w - left, h - top);
      context.clip();
      context.imageSmoothingEnabled = cell < 1;
      context.drawImage(image, first.c, first.r, last.c - first.c, last.r - first.r, left + first.c * cell - x,
                        top + first.r * cell - y, (last.c - first.c) * cell, (last.r - first.r) * cell);
      if (cell >= 34) {
        const light = `rgb(${colours.cold})`, ink = colours.ink;
        context.font = "11px system-ui, sans-serif";
        context.textAlign = "center", context.textBaseline = "middle";
        for (let r = first.r; r < last.r; ++r)
          for (let c = first.c; c < last.c; ++c) {
            const weight = values[r * K + c];
            if (weight < 0.005) continue;
            context.fillStyle = weight > 0.2 * most ? light : ink;
            context.fillText(weight.toFixed(2).replace(/^0/, ""), left + (c + 0.5) * cell - x, top + (r + 0.5) * cell - y);
          }
      }
      context.strokeStyle = colours.line;
      context.lineWidth = 1;
      context.strokeRect(left - x + 0.5, top - y + 0.5, K * cell, Q * cell);
      if (state.query >= 0) {
        context.strokeStyle = colours.mark;
        context.lineWidth = Math.min(2, Math.max(1, cell / 8));
        context.strokeRect(left - x, top - y + state.query * cell, K * cell, cell);
        if (state.key >= 0) context.strokeRect(left - x + state.key * cell, top - y, cell, Q * cell);
      }
      context.restore();
      // Labels where there is room; those of the chosen row and column always.
      context.textBaseline = "middle";
      const every = Math.ceil(14 / cell);
      const write = (label, chosen, room) => {
        context.font = `${chosen ? "600 " : ""}${cell < 12 ? 11 : 13}px system-ui, sans-serif`;
        context.fillStyle = chosen ? colours.mark : colours.ink;
        context.fillText(fitting(context, label, room), 0, 0);
      };
      const near = (i, chosen) => chosen >= 0 && i !== chosen && Math.abs(i - chosen) * cell < 13;
      context.save();
      context.beginPath(), context.rect(0, top - 4, left, h), context.clip();
      context.textAlign = "right";
      for (let r = first.r; r < last.r; ++r) {
        if ((r % every !== 0 && r !== state.query) || near(r, state.query)) continue;
        context.save();
        context.translate(left - 7, top + (r + 0.5) * cell - y);
        write(queries.labels[r], r === state.query, left - 10);
        context.restore();
      }
      context.restore();
      context.save();
      context.beginPath(), context.rect(left - 8, 0, w, top), context.clip();
      context.textAlign = "left";
      for (let c = first.c; c < last.c; ++c) {
        if ((c % every !== 0 && c !== state.key) || near(c, state.key)) continue;
        context.save();
        context.translate(left + (c + 0.5) * cell - x, top - 7);
        context.rotate(-Math.PI / 3);
        write(keys.labels[c], c === state.key, (top - 12) / 0.87);
        context.restore();
      }
      context.restore();
    },
    move: {
      point(place, box, event) {
        const { row, column } = cellAt(place, box);
        if (row >= Q || column >= K || (row < 0 && column < 0)) return showTip(event, "");
        if (row >= 0) state.query = row;
        state.key = column;
        describe();
        showTip(event, row < 0 || column < 0 ? "" :
          `“${queries.labels[row]}” → “${keys.labels[column]}”\n${figureOf(values[row * K + column])}`);
      },
      step(rows, columns, box) {
        stepTo(rows, columns);
        const reach = (from, size, edge, room, scroll) =>
          from < scroll ? from : from + size > scroll + room - edge ? from + size - room + edge : scroll;
        box.scrollTop = reach(state.query * cell, cell, top, box.clientHeight, box.scrollTop);
        box.scrollLeft = reach(state.key * cell, cell, left, box.clientWidth, box.scrollLeft);
      },
    },
  });
  const zoom = by => { state.zoom = clamp(cell * by, 1, 40), surface.fit(); };
  const bar = make("canvas", { className: "ramp", width: 112, height: 1 });
  const pixels = bar.getContext("2d").createImageData(112, 1);
  new Uint32Array(pixels.data.buffer).forEach((_, i, all) => { all[i] = ramp[Math.round(i / 111 * 255)]; });
  bar.getContext("2d").putImageData(pixels, 0, 0);
  host.append(surface.box, make("div", { className: "legend" }, "0", bar, (greatest(values) > most ? "≥ " : "") + figureOf(most),
    make("span", { textContent: "· a row looks at its columns" + (view().k ? ` · the ${view().k} greatest of each row` : "") }),
    make("button", { textContent: "−", title: "Smaller cells", "aria-label": "Smaller cells", onclick: () => zoom(1 / 1.5) }),
    make("button", { textContent: "+", title: "Larger cells", "aria-label": "Larger cells", onclick: () => zoom(1.5) }),
    make("button", { textContent: "fit", onclick: () => { state.zoom = 0, surface.fit(); } })));
  surface.fit();
}
