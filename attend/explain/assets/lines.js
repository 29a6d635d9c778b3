// Lines between tokens: those on the left look at those on the right.

const kMostLines = 300;  // at once: more can neither be told apart nor drawn in a frame
const kShades = 12;      // lines of one shade are drawn together

function showLines(host) {
  const { queries, keys } = sides, Q = queries.labels.length, K = keys.labels.length;
  const heads = chosenHeads();
  const parts = heads.map(head => {
    const values = headMatrix(state.layer, head), most = fullScale(values, K);
    const strongest = [];
    values.forEach((weight, at) => { if (weight >= 0.06 * most) strongest.push(at); });
    strongest.sort((a, b) => values[b] - values[a]);
    return { values, most, strongest, ink: heads.length > 1 ? alpha => headColour(head, alpha) : alpha => `rgb(${colours.hot} / ${alpha})` };
  });
  const step = 22, above = 10;
  const columns = w => ({ left: Math.round(w * 0.36), right: Math.round(w * 0.64) });
  let pointedKey = -1;  // lines that come in, instead of those that go out
  const surface = board({
    label: `Lines: ${heading()}. Tokens on the left look at tokens on the right. Arrow keys move.`,
    width: w => w,
    height: () => Math.max(Q, K) * step + 2 * above,
    draw(context, { y, w, h }) {
      const { left, right } = columns(w), middle = (left + right) / 2;
      const place = i => above + (i + 0.5) * step - y;
      const seen = i => place(i) > -step && place(i) < h + step;
      const one = pointedKey >= 0 ? "key" : state.query >= 0 ? "query" : "";
      const share = new Float32Array(one === "key" ? Q : K);  // of the chosen token, for the boxes behind labels
      context.lineCap = "round";
      for (const { values, most, strongest, ink } of parts) {
        const cells = one === "key" ? Array.from({ length: Q }, (_, q) => q * K + pointedKey)
          : one === "query" ? Array.from({ length: K }, (_, k) => state.query * K + k) : strongest;
        const full = one ? 1 : most, paths = [];
        let lines = 0;
        for (const at of cells) {
          const q = Math.floor(at / K), k = at % K, weight = values[at];
          if (one && weight < 0.004) continue;
          if (one) share[one === "key" ? q : k] += weight / parts.length;
          if (!seen(q) && !seen(k)) continue;  // lines that only pass through would hide those that end here
          if (++lines > kMostLines / parts.length) break;
          const path = paths[clamp(Math.floor(kShades * weight / full), 0, kShades - 1)] ??= new Path2D();
          path.moveTo(left + 6, place(q));
          path.bezierCurveTo(middle, place(q), middle, place(k), right - 6, place(k));
        }
        paths.forEach((path, shade) => {
          const strength = (shade + 0.5) / kShades;
          context.strokeStyle = ink((one ? 0.15 + 0.85 * strength : 0.85 * strength).toFixed(3));
          context.lineWidth = 0.6 + 3.2 * strength;
          context.stroke(path);
        });
      }
      context.textBaseline = "middle";
      const column = (labels, x, align, marked, shares) => {
        for (let i = Math.max(0, Math.floor((y - above) / step)); i < labels.length && place(i) < h + step; ++i) {
          context.font = `${marked === i ? "600 " : ""}13px system-ui, sans-serif`;
          const label = fitting(context, labels[i], left - 16);
          const size = context.measureText(label).width + 10, from = align === "right" ? x - size + 5 : x - 5;
          if (shares && shares[i] > 0.004) {
            context.fillStyle = `rgb(${colours.hot} / ${Math.min(0.45, Math.sqrt(shares[i]) * 0.5)})`;
            context.fillRect(from, place(i) - step / 2 + 2, size, step - 4);
          }
          context.textAlign = align;
          context.fillStyle = marked === i ? colours.mark : colours.ink;
          context.fillText(label, x, place(i));
        }
      };
      column(queries.labels, left, "right", one === "query" ? state.query : -1, one === "key" ? share : null);
      column(keys.labels, right, "left", one === "key" ? pointedKey : -1, one === "query" ? share : null);
    },
    move: {
      point({ x, y }, box) {
        const i = Math.floor((y + box.scrollTop - above) / step), { right } = columns(box.clientWidth);
        const incoming = x > right - 20;
        pointedKey = incoming && i >= 0 && i < K ? i : -1;
        if (!incoming) state.query = i >= 0 && i < Q ? i : -1;
        if (pointedKey >= 0) describeIncoming(pointedKey); else describe();
      },
      /// Up and down on one side; left and right change sides.
      step(rows, across, box) {
        const row = Math.max(pointedKey >= 0 ? pointedKey : state.query, 0) + rows;
        if (across > 0 || (across === 0 && pointedKey >= 0)) {
          pointedKey = clamp(row, 0, K - 1);
          describeIncoming(pointedKey);
        } else {
          pointedKey = -1;
          state.query = clamp(row, 0, Q - 1);
          describe();
        }
        box.scrollTop = clamp(box.scrollTop, (row + 2) * step - box.clientHeight, Math.max(0, row * step - 8));
      },
    },
  });
  surface.box.addEventListener("pointerleave", () => { pointedKey = -1, state.query = -1, describe(), surface.ask(); });
  host.append(surface.box, make("div", { className: "legend" },
    "Left looks at right. Point at a token to see its lines alone; several heads (shift-click) have colours of their own."));
  surface.fit();
}
