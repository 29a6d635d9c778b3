// Two mechanisms, computed by the library on the server: attention pooling and position encodings.
import * as api from "../api";
import { debounce, h, slider } from "../dom";
import { headColour, mix, palette, css, pixels } from "../draw/colours";
import { ColourBar } from "../draw/colour_bar";
import { Plot, type Series } from "../draw/plot";
import { panel, type View } from "../parts";
import { Status } from "../status";

export const learnView: View = (root) => {
  root.append(
    h("h1", {}, "Learn"),
    h("p", { class: "lead" }, "Two mechanisms, computed by the server as you move the sliders."),
  );
  const parts = [poolingLesson(root), positionsLesson(root)];
  return {
    leave: () => parts.forEach((part) => part.leave()),
    recolour: () => parts.forEach((part) => part.recolour()),
  };
};

function poolingLesson(root: HTMLElement): { leave: () => void; recolour: () => void } {
  const options = { width: 0.5, points: 50, seed: 1 };
  let data: api.Pooling | null = null;
  let at: number | null = null;
  let abort = new AbortController();
  const status = new Status();
  const readout = h("p", { class: "readout", "aria-live": "polite" });
  const plot = new Plot("Points, the function they come from, and two estimates of it", 300, (x) => {
    at = x;
    draw();
  });
  const heat = h("canvas", {
    class: "flat",
    role: "img",
    "aria-label": "Attention weights: one row for each query, one column for each point",
  });
  const bar = new ColourBar();
  const change = debounce(80, () => void load());
  const set = (name: keyof typeof options) => (value: number) => {
    options[name] = value;
    change();
  };

  const figures = h(
    "div",
    { class: "results" },
    h(
      "div",
      { class: "columns wide-left" },
      plot.element,
      h(
        "figure",
        {},
        heat,
        bar.element,
        h(
          "figcaption",
          {},
          "The attention weights: one row for each query, one column for each point, both in the order of x. With a small width a query attends to few points, with a large one to all.",
        ),
      ),
    ),
    readout,
  );

  root.append(
    panel(
      "Attention pooling",
      null,
      h(
        "p",
        {},
        "To estimate the value at x, Nadaraya and Watson (1964) took a weighted mean of the known values. The query is x, the keys are the x of the points, the values are their y. The weights are a softmax of −½ (distance / width)². This is attention with a single parameter, the width.",
      ),
      h(
        "div",
        { class: "fields" },
        slider(
          "Width",
          { min: 0.05, max: 3, step: 0.05, value: options.width, format: (x) => x.toFixed(2) },
          set("width"),
        ),
        slider("Points", { min: 5, max: 200, step: 5, value: options.points }, set("points")),
        slider("Seed", { min: 1, max: 20, step: 1, value: options.seed }, set("seed")),
      ),
      status.element,
      figures,
    ),
  );

  async function load(): Promise<void> {
    abort.abort();
    abort = new AbortController();
    status.busy("Computing…");
    try {
      data = await api.pooling(options.width, options.points, options.seed, abort.signal);
      status.clear();
      figures.hidden = false;
      draw();
    } catch (error) {
      if (!api.isAbort(error)) figures.hidden = true;
      status.error(error, () => void load());
    }
  }

  function draw(): void {
    if (!data) return;
    const { ink, muted } = palette();
    const { x, y, query, truth, fit, average, weights } = data;
    const flat = Array.isArray(average) ? average : query.map(() => average);
    let row: number | null = null;
    if (at !== null)
      row = query.reduce((best, q, i) => (Math.abs(q - at!) < Math.abs(query[best] - at!) ? i : best), 0);
    const most = row === null ? 1 : Math.max(...weights[row], 1e-9);
    const series: Series[] = [
      {
        name: "points",
        x,
        y,
        colour: muted,
        kind: "points",
        sizes: x.map((_, i) => (row === null ? 3 : 1.5 + 8 * Math.sqrt(weights[row][i] / most))),
      },
      {
        name: "true function",
        x: truth.length === query.length ? query : x,
        y: truth,
        colour: ink,
        kind: "line",
        width: 1,
        dash: [4, 4],
      },
      {
        name: "mean of all",
        x: query,
        y: flat.length === query.length ? flat : query.map(() => flat[0]),
        colour: headColour(1),
        kind: "line",
      },
      { name: "attention pooling", x: query, y: fit, colour: headColour(0), kind: "line", width: 2.5 },
    ];
    plot.show(series, row === null ? null : query[row]);
    const off = (guess: number[]) =>
      Math.sqrt(guess.reduce((sum, g, i) => sum + (g - truth[i]) ** 2, 0) / guess.length);
    const error =
      truth.length === fit.length
        ? ` The root mean square error of pooling is ${off(fit).toFixed(2)}; that of the mean of all points is ${off(series[2].y).toFixed(2)}.`
        : "";
    readout.textContent =
      row === null
        ? `Width ${options.width.toFixed(2)}.${error} Point at the plot to see which points an estimate is made of.`
        : `At x = ${query[row].toFixed(2)} the estimate is ${fit[row].toFixed(2)}. Near points have the greatest weights; the greatest is ${(100 * most).toFixed(0)} %.`;
    const order = x.map((_, i) => i).sort((a, b) => x[a] - x[b]);
    paintSigned(
      heat,
      weights.map((each) => order.map((i) => each[i])),
      true,
    );
    bar.show(Math.max(...weights.map((each) => Math.max(...each))));
  }

  void load();
  return { leave: () => (abort.abort(), change.cancel(), plot.destroy()), recolour: draw };
}

function positionsLesson(root: HTMLElement): { leave: () => void; recolour: () => void } {
  const options = { width: 64, length: 100 };
  let first = 4;
  let data: api.Positions | null = null;
  let abort = new AbortController();
  const status = new Status();
  const heat = h("canvas", {
    class: "flat tall",
    role: "img",
    "aria-label": "Encodings: one row for each position, one column for each dimension",
  });
  const waves = new Plot("Four dimensions of the encoding along the positions", 220);
  const near = new Plot("Dot product of the encoding in the middle with all others", 180);
  const change = debounce(80, () => void load());

  const figures = h(
    "div",
    { class: "columns" },
    h(
      "figure",
      {},
      heat,
      h(
        "figcaption",
        {},
        "One row for each position, one column for each dimension. Blue is positive, red is negative; the full colours are 1 and −1.",
      ),
    ),
    h(
      "div",
      {},
      h("figure", {}, waves.element, h("figcaption", {}, "Four dimensions along the positions.")),
      h(
        "figure",
        {},
        near.element,
        h(
          "figcaption",
          {},
          "The dot product of the middle position’s vector with all others. It is greatest with itself, drops quickly, and then swings around a lower level.",
        ),
      ),
    ),
  );

  root.append(
    panel(
      "Position encodings",
      null,
      h(
        "p",
        {},
        "Attention does not know the order of its tokens. The Transformer adds a vector to each token that encodes its position: sines and cosines, with a high frequency in the first dimensions and a low one in the last. Each position has a different vector, and neighbouring positions have similar ones.",
      ),
      h(
        "div",
        { class: "fields" },
        slider("Dimensions", { min: 8, max: 256, step: 8, value: options.width }, (value) => {
          options.width = value;
          change();
        }),
        slider("Positions", { min: 10, max: 400, step: 10, value: options.length }, (value) => {
          options.length = value;
          change();
        }),
        slider("Show from dimension", { min: 0, max: 60, step: 1, value: first }, (value) => {
          first = value;
          draw();
        }),
      ),
      status.element,
      figures,
    ),
  );

  async function load(): Promise<void> {
    abort.abort();
    abort = new AbortController();
    status.busy("Computing…");
    try {
      data = await api.positions(options.width, options.length, abort.signal);
      status.clear();
      figures.hidden = false;
      draw();
    } catch (error) {
      if (!api.isAbort(error)) figures.hidden = true;
      status.error(error, () => void load());
    }
  }

  function draw(): void {
    if (!data) return;
    const { values, width, length } = data;
    paintSigned(heat, values, false);
    const places = Array.from({ length }, (_, i) => i);
    const from = Math.min(first, width - 4);
    waves.show(
      [0, 1, 2, 3].map((i): Series => ({
        name: `dimension ${from + i}`,
        x: places,
        y: values.map((row) => row[from + i]),
        colour: headColour(i),
        kind: "line",
      })),
    );
    const middle = values[length >> 1];
    near.show(
      [
        {
          name: "",
          x: places,
          y: values.map((row) => row.reduce((sum, v, d) => sum + v * middle[d], 0)),
          colour: headColour(0),
          kind: "line",
          width: 2,
        },
      ],
      length >> 1,
    );
  }

  void load();
  return { leave: () => (abort.abort(), change.cancel(), waves.destroy(), near.destroy()), recolour: draw };
}

/** A matrix as a picture: positive values blue, negative ones red. `root` makes small values visible. */
function paintSigned(canvas: HTMLCanvasElement, values: number[][], root: boolean): void {
  const columns = values[0]?.length ?? 0;
  if (!columns) return;
  canvas.width = columns;
  canvas.height = values.length;
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(columns, values.length);
  const data = new Uint32Array(image.data.buffer);
  const { heat, cold } = palette();
  const ramps = [pixels(cold), pixels(heat)];
  const most = Math.max(...values.map((row) => Math.max(...row.map(Math.abs))), 1e-9);
  values.forEach((row, y) =>
    row.forEach((value, x) => {
      const share = Math.abs(value) / most;
      data[y * columns + x] = ramps[value < 0 ? 0 : 1][Math.round(255 * (root ? Math.sqrt(share) : share))];
    }),
  );
  context.putImageData(image, 0, 0);
  canvas.style.backgroundColor = css(mix(heat, 0));
}
