// The attention weights as a grid: one row for each query, one column for each key, with a title, a colour bar and
// zoom. Arrow keys move from cell to cell.
import { h, percent, visible } from "../dom";
import { kNowhere, type Focus, type Scene } from "../scene";
import type { Matrix } from "../matrix";
import { mix, palette, pixels, strength, textOn } from "./colours";
import { ColourBar } from "./colour_bar";
import { fit, fontOf, Viewport } from "./viewport";

const kLabel = 120; // px that a token may take as a label
const kSentence = 260; // the same for the sentences of a story
const kLegible = 16; // px of a cell that has a readable label
const kAllLabels = 64; // up to this many tokens, every token has its label, even if the grid must be scrolled
const kNumbers = 34; // px of a cell that shows its weight as a number
const kLargest = 44; // px of a cell, unless enlarged
const kSlope = Math.PI / 3; // of the labels of columns

export class HeatMap {
  readonly viewport = new Viewport("Heat map. Arrow keys move from cell to cell.", "application");
  private readonly bar = new ColourBar();
  private readonly sentence = h("figcaption", { class: "sentence" });
  private readonly note = h("span");
  readonly element = h(
    "figure",
    { class: "heatmap" },
    this.sentence,
    this.viewport.element,
    h(
      "div",
      { class: "legend" },
      this.bar.element,
      this.note,
      h(
        "span",
        { class: "zoom", role: "group", "aria-label": "Size of the cells" },
        this.zoomButton("−", "Smaller cells", () => this.cell / 1.5),
        this.zoomButton("+", "Larger cells", () => this.cell * 1.5),
        this.zoomButton("fit", "Cells that fit", () => 0),
      ),
    ),
  );
  private scene: Scene | null = null;
  private focus: Focus = kNowhere;
  private image: HTMLCanvasElement | null = null;
  private most = 1;
  private cell = 20;
  private left = 0;
  private top = 0;
  private zoom = 0; // px of a cell; 0: as the window allows

  /** `limit` gives the greatest height in pixels; `note` tells what the rows and columns are. */
  constructor(
    private readonly onFocus: (focus: Focus) => void,
    private readonly limit: () => number = () => 560,
    note = "Rows attend to columns.",
  ) {
    this.note.textContent = note;
    this.viewport.draw = (...args) => this.draw(...args);
    this.viewport.onResize = () => this.layout();
    const element = this.viewport.element;
    element.addEventListener("pointermove", (event) => onFocus(this.cellAt(event)));
    element.addEventListener("pointerdown", (event) => onFocus(this.cellAt(event)));
    element.addEventListener("pointerleave", () => onFocus(kNowhere));
    element.addEventListener("keydown", (event) => this.walk(event));
  }

  show(scene: Scene): void {
    this.scene = scene;
    this.most = scene.mean.fullScale();
    this.image = imageOf(scene.mean, this.most);
    this.sentence.textContent = this.sentence.title = scene.title;
    this.bar.show(this.most, scene.mean.greatest());
    this.layout();
  }

  point(focus: Focus): void {
    this.focus = focus;
    if (focus.query !== null && !this.shows(focus.query)) this.reveal(focus.query, focus.key);
    this.viewport.request();
  }

  recolour(): void {
    if (this.scene) this.show(this.scene);
  }

  private zoomButton(text: string, label: string, size: () => number): HTMLElement {
    const set = () => {
      const wanted = size();
      this.zoom = wanted > 0 ? Math.min(Math.max(wanted, 1), kLargest) : 0;
      this.layout();
    };
    return h("button", { type: "button", class: "quiet", title: label, "aria-label": label, onclick: set }, text);
  }

  private layout(): void {
    if (!this.scene) return;
    const { queries, keys } = this.scene;
    const room = this.viewport.width - 2;
    const context = this.viewport.canvas.getContext("2d")!;
    context.font = fontOf(kLegible);
    const widest = (labels: string[]) => {
      const sentences = labels.some((label) => /\S\s\S/.test(label));
      const most = sentences ? Math.min(kSentence, room / 2) : Math.min(kLabel, room / 4);
      // Only the labels with the most letters are measured: a long text has hundreds.
      const some = labels.length < 40 ? labels : [...labels].sort((a, b) => b.length - a.length).slice(0, 20);
      return Math.min(most, Math.max(0, ...some.map((label) => context.measureText(visible(label)).width)) + 10);
    };
    this.left = widest(queries);
    const slanted = widest(keys);
    this.top = slanted * Math.sin(kSlope) + 8;
    const wide = (room - this.left - 4) / Math.max(keys.length, 1);
    const high = (this.limit() - this.top - 8) / Math.max(queries.length, 1);
    const least = Math.max(keys.length, queries.length) <= kAllLabels ? kLegible : 0.5;
    this.cell = this.zoom || Math.min(kLargest, Math.max(least, Math.min(wide, Math.max(high, kLegible + 2))));
    if (this.cell > 3) this.cell = Math.floor(this.cell);
    // The last slanted label leans out to the right.
    const lean = Math.max(0, slanted * Math.cos(kSlope) - this.cell / 2);
    const width = this.left + this.cell * keys.length;
    this.viewport.setContent(
      width + (width + lean > room ? 1 : lean),
      this.top + this.cell * queries.length + 1,
      this.limit(),
    );
  }

  private cellAt(event: PointerEvent): Focus {
    if (!this.scene) return kNowhere;
    const { x, y } = this.viewport.at(event);
    const { scrollLeft, scrollTop } = this.viewport.element;
    const inside = (at: number, n: number) => (at >= 0 && at < n ? at : null);
    return {
      query:
        y < this.top ? null : inside(Math.floor((y - this.top + scrollTop) / this.cell), this.scene.queries.length),
      key: x < this.left ? null : inside(Math.floor((x - this.left + scrollLeft) / this.cell), this.scene.keys.length),
    };
  }

  private walk(event: KeyboardEvent): void {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Escape") return this.onFocus(kNowhere);
    if (!step || !this.scene || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const clamp = (value: number, n: number) => Math.min(Math.max(value, 0), n - 1);
    const fresh = this.focus.query === null || this.focus.key === null;
    const query = clamp((this.focus.query ?? 0) + (fresh ? 0 : step[0]), this.scene.queries.length);
    const key = clamp((this.focus.key ?? 0) + (fresh ? 0 : step[1]), this.scene.keys.length);
    this.onFocus({ query, key });
    this.reveal(query, key);
  }

  private shows(query: number): boolean {
    const at = query * this.cell - this.viewport.element.scrollTop;
    return at + this.cell > 0 && at < this.viewport.element.clientHeight - this.top;
  }

  private reveal(query: number, key: number | null): void {
    const element = this.viewport.element;
    const follow = (at: number, from: number, room: number) =>
      at < from ? at : at + this.cell > from + room ? at + this.cell - room : from;
    element.scrollTop = follow(query * this.cell, element.scrollTop, element.clientHeight - this.top);
    if (key !== null) element.scrollLeft = follow(key * this.cell, element.scrollLeft, element.clientWidth - this.left);
  }

  private draw(context: CanvasRenderingContext2D, x: number, y: number, w: number, h: number): void {
    const { scene, image, cell, left, top } = this;
    if (!scene || !image || !image.width || !image.height) return;
    const colours = palette();
    const { queries, keys } = scene;
    // The cells in sight.
    const [row, column] = [Math.floor(y / cell), Math.floor(x / cell)];
    const rows = Math.min(queries.length, Math.ceil((y + h - top) / cell));
    const columns = Math.min(keys.length, Math.ceil((x + w - left) / cell));

    context.save();
    context.beginPath();
    context.rect(left, top, w - left, h - top);
    context.clip();
    context.imageSmoothingEnabled = cell < 1;
    const [across, down] = [columns - column, rows - row];
    if (across > 0 && down > 0)
      context.drawImage(
        image,
        ...([column, row, across, down] as const),
        ...([left + column * cell - x, top + row * cell - y, across * cell, down * cell] as const),
      );
    if (cell >= 9) {
      context.strokeStyle = colours.surface;
      context.lineWidth = 1;
      context.beginPath();
      for (let k = column; k <= columns; ++k) line(left + k * cell - x, top, 0, h);
      for (let q = row; q <= rows; ++q) line(left, top + q * cell - y, w, 0);
      context.stroke();
    }
    if (cell >= kNumbers) this.numbers(context, x, y, rows, columns);
    context.strokeStyle = colours.line;
    context.strokeRect(left - x + 0.5, top - y + 0.5, keys.length * cell - 1, queries.length * cell - 1);
    const { query, key } = this.focus;
    context.strokeStyle = colours.mark;
    context.lineWidth = cell < 4 ? 0.5 : 1.5;
    if (query !== null) context.strokeRect(left - x, top + query * cell - y, keys.length * cell, cell);
    if (key !== null) context.strokeRect(left + key * cell - x, top - y, cell, queries.length * cell);
    context.restore();

    this.labels(context, x, y, w, h, { row, column, rows, columns });
    this.tooltip(context, w, h);

    function line(fromX: number, fromY: number, dx: number, dy: number): void {
      context.moveTo(fromX, fromY);
      context.lineTo(fromX + dx, fromY + dy);
    }
  }

  private numbers(context: CanvasRenderingContext2D, x: number, y: number, rows: number, columns: number): void {
    const { cell, left, top } = this;
    const { heat } = palette();
    const { start, key, weight } = this.scene!.mean;
    context.font = fontOf(12);
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let q = Math.floor(y / cell); q < rows; ++q)
      for (let i = start[q]; i < start[q + 1]; ++i) {
        const k = key[i];
        if (weight[i] < 0.005 || k < Math.floor(x / cell) || k >= columns) continue;
        context.fillStyle = textOn(mix(heat, strength(weight[i], this.most)));
        const text = weight[i].toFixed(2).replace(/^0/, "");
        context.fillText(text, left + (k + 0.5) * cell - x, top + (q + 0.5) * cell - y);
      }
  }

  /** Where there is no room for all labels, those of every second, third, … token, and of the selected ones. */
  private labels(
    context: CanvasRenderingContext2D,
    x: number,
    y: number,
    w: number,
    h: number,
    sight: { row: number; column: number; rows: number; columns: number },
  ): void {
    const { cell, left, top } = this;
    const { queries, keys } = this.scene!;
    const { query, key } = this.focus;
    const colours = palette();
    const every = Math.ceil((kLegible - 1) / cell);
    const hides = (i: number, chosen: number | null) =>
      i !== chosen && (i % every !== 0 || (chosen !== null && Math.abs(i - chosen) * cell < kLegible - 2));
    context.textBaseline = "middle";
    const write = (label: string, chosen: boolean, room: number, atX: number, atY: number) => {
      context.font = fontOf(cell < kLegible ? 12 : 13, chosen);
      context.fillStyle = chosen ? colours.mark : colours.ink;
      context.fillText(fit(context, visible(label), room), atX, atY);
    };
    context.save();
    context.beginPath();
    context.rect(0, top - 4, left, h);
    context.clip();
    context.textAlign = "right";
    for (let q = sight.row; q < sight.rows; ++q)
      if (!hides(q, query)) write(queries[q], q === query, left - 8, left - 6, top + (q + 0.5) * cell - y);
    context.restore();
    context.save();
    context.beginPath();
    context.rect(left - 8, 0, w, top);
    context.clip();
    context.textAlign = "left";
    for (let k = sight.column; k < sight.columns; ++k) {
      if (hides(k, key)) continue;
      context.save();
      context.translate(left + (k + 0.5) * cell - x, top - 6);
      context.rotate(-kSlope);
      write(keys[k], k === key, (top - 8) / Math.sin(kSlope), 0, 0);
      context.restore();
    }
    context.restore();
  }

  /** The selected cell in words, where its number does not fit into it. */
  private tooltip(context: CanvasRenderingContext2D, w: number, h: number): void {
    const { query, key } = this.focus;
    if (!this.scene || this.cell >= kNumbers || query === null || key === null) return;
    const { queries, keys, mean } = this.scene;
    if (query >= queries.length || key >= keys.length) return;
    const colours = palette();
    const { scrollLeft, scrollTop } = this.viewport.element;
    const text = `${visible(queries[query])} → ${visible(keys[key])}: ${percent(mean.at(query, key))}`;
    context.font = fontOf(12);
    const width = context.measureText(text).width + 14;
    const x = Math.min(Math.max(this.left + (key + 1) * this.cell - scrollLeft + 8, 2), w - width - 2);
    const y = Math.min(Math.max(this.top + query * this.cell - scrollTop - 28, 2), h - 24);
    context.fillStyle = colours.ink;
    context.beginPath();
    context.roundRect(x, y, width, 22, 5);
    context.fill();
    context.fillStyle = colours.surface;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(text, x + 7, y + 11);
  }
}

/** One pixel for each cell; the drawing scales it. */
export function imageOf(matrix: Matrix, most: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = matrix.keys;
  canvas.height = matrix.queries;
  if (!canvas.width || !canvas.height) return canvas;
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(canvas.width, canvas.height);
  const data = new Uint32Array(image.data.buffer);
  const heat = pixels(palette().heat);
  data.fill(heat[0]);
  for (let q = 0; q < matrix.queries; ++q)
    for (let i = matrix.start[q]; i < matrix.start[q + 1]; ++i)
      data[q * matrix.keys + matrix.key[i]] = heat[Math.round(255 * strength(matrix.weight[i], most))];
  context.putImageData(image, 0, 0);
  return canvas;
}
