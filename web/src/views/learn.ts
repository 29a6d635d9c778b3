// Two mechanisms by themselves, with numbers from the library: where a token stands, and attention in its oldest form.
import * as api from "../api";
import { debounce, h, slider } from "../dom";
import { headColour, mix, palette, css, pixels } from "../draw/colours";
import { Plot, type Series } from "../draw/plot";
import { panel, type View } from "../parts";
import { Status } from "../status";

export const learnView: View = (root) => {
  root.append(
    h("h1", {}, "Learn"),
    h("p", { class: "lead" }, "One mechanism at a time, computed by the library as you move the sliders."),
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
  const plot = new Plot("Points, the function they come from, and two guesses of it", 300, (x) => {
    at = x;
    draw();
  });
  const heat = h("canvas", { class: "flat", role: "img", "aria-label": "Weights: a row a query, a column a point" });
  const change = debounce(80, () => void load());
  const set = (name: keyof typeof options) => (value: number) => {
    options[name] = value;
    change();
  };

  root.append(
    panel(
      "Pooling: attention before networks",
      null,
      h(
        "p",
        {},
        "To guess the value at a place, Nadaraya and Watson (1964) took a weighted mean of the values around it: the query is the place, the keys are where the points lie, the values are how high. The weights are a softmax of −(distance / width)² / 2. That is attention, with nothing to learn but the width.",
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
      h(
        "div",
        { class: "columns wide-left" },
        plot.element,
        h(
          "figure",
          {},
          heat,
          h(
            "figcaption",
            {},
            "The weights: a row a query, a column a point, by place. Narrow widths look at few points, wide ones at all.",
          ),
        ),
      ),
      readout,
    ),
  );

  async function load(): Promise<void> {
    abort.abort();
    abort = new AbortController();
    status.busy("Computing…");
    try {
      data = await api.pooling(options.width, options.points, options.seed, abort.signal);
      status.clear();
      draw();
    } catch (error) {
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
        name: "truth",
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
      { name: "pooling", x: query, y: fit, colour: headColour(0), kind: "line", width: 2.5 },
    ];
    plot.show(series, row === null ? null : query[row]);
    const off = (guess: number[]) =>
      Math.sqrt(guess.reduce((sum, g, i) => sum + (g - truth[i]) ** 2, 0) / guess.length);
    const error =
      truth.length === fit.length
        ? ` It is off by ${off(fit).toFixed(2)} on average; the mean of all points by ${off(series[2].y).toFixed(2)}.`
        : "";
    readout.textContent =
      row === null
        ? `Width ${options.width.toFixed(2)}.${error} Point at the plot to see which points a guess is made of.`
        : `At ${query[row].toFixed(2)} the guess is ${fit[row].toFixed(2)}: the nearest weights count most, the greatest has ${(100 * most).toFixed(0)} %.`;
    const order = x.map((_, i) => i).sort((a, b) => x[a] - x[b]);
    paintSigned(
      heat,
      weights.map((each) => order.map((i) => each[i])),
      true,
    );
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
    "aria-label": "Encodings: a row a position, a column a dimension",
  });
  const waves = new Plot("Four dimensions of the encoding along the positions", 220);
  const near = new Plot("Dot product of the encoding in the middle with all others", 180);
  const change = debounce(80, () => void load());

  root.append(
    panel(
      "Positions: where a token stands",
      null,
      h(
        "p",
        {},
        "Attention itself does not know the order of its tokens. The Transformer adds a vector to each that tells its place: sines and cosines, fast in the first dimensions and slow in the last. Each position gets a pattern of its own, and near positions get similar ones.",
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
      h(
        "div",
        { class: "columns" },
        h(
          "figure",
          {},
          heat,
          h("figcaption", {}, "A row a position, a column a dimension; blue is positive, red negative."),
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
              "How much the middle position’s vector agrees with every other: a peak, whatever the place.",
            ),
          ),
        ),
      ),
    ),
  );

  async function load(): Promise<void> {
    abort.abort();
    abort = new AbortController();
    status.busy("Computing…");
    try {
      data = await api.positions(options.width, options.length, abort.signal);
      status.clear();
      draw();
    } catch (error) {
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

/** A matrix as a picture, blue above zero and red below; `root` lifts small values. */
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
