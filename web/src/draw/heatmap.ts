// Who looks at whom, as a grid: a row a query, a column a key. Arrow keys walk through it.
import { visible } from "../dom";
import { kNowhere, type Focus, type Scene } from "../scene";
import type { Matrix } from "../matrix";
import { palette, pixels, strength } from "./colours";
import { fit, kSmallFont, Viewport } from "./viewport";

const kLegible = 13; // px a cell must have for its label to be read
const kLabel = 92; // px a label may take

export class HeatMap {
  readonly viewport = new Viewport("Heat map. Arrow keys move from cell to cell.", "application");
  private scene: Scene | null = null;
  private focus: Focus = kNowhere;
  private image: HTMLCanvasElement | null = null;
  private cell = 20;
  private left = 0;
  private top = 0;
  zoom = 1;

  constructor(
    private readonly onFocus: (focus: Focus) => void,
    private readonly limit = 560,
  ) {
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
    this.image = imageOf(scene.mean);
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

  private layout(): void {
    if (!this.scene) return;
    const { queries, keys } = this.scene;
    const room = this.viewport.width - 2;
    const context = this.viewport.canvas.getContext("2d")!;
    context.font = kSmallFont;
    const longest = (labels: string[]) =>
      Math.min(kLabel, Math.max(0, ...labels.map((label) => context.measureText(visible(label)).width)) + 10);
    const left = longest(queries);
    const wide = (room - left) / Math.max(keys.length, 1);
    this.cell = Math.max(1, Math.min(keys.length < 8 ? 44 : 30, wide)) * this.zoom;
    if (this.cell > 3) this.cell = Math.floor(this.cell);
    const labelled = this.cell >= kLegible;
    this.left = labelled ? left : 0;
    this.top = labelled ? longest(keys) * 0.9 + 6 : 0;
    if (!labelled) this.cell = Math.max(room / Math.max(keys.length, 1), 1) * this.zoom;
    // The last slanted label leans out to the right.
    const lean = labelled ? Math.min(longest(keys) * 0.5, 44) : 0;
    this.viewport.setContent(
      this.left + this.cell * keys.length + (this.left + this.cell * keys.length + lean > room ? 0 : lean),
      this.top + this.cell * queries.length + 1,
      this.limit,
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
    if (!step || !this.scene) return;
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
    const [columns, rows] = [keys.length, queries.length];

    context.save();
    context.beginPath();
    context.rect(left, top, w - left, h - top);
    context.clip();
    context.imageSmoothingEnabled = cell < 1;
    context.drawImage(image, left - x, top - y, columns * cell, rows * cell);
    if (cell >= 9) {
      context.strokeStyle = colours.surface;
      context.lineWidth = 1;
      context.beginPath();
      for (let k = Math.floor(x / cell); k <= columns && k * cell - x < w; ++k) line(left + k * cell - x, top, 0, h);
      for (let q = Math.floor(y / cell); q <= rows && q * cell - y < h; ++q) line(left, top + q * cell - y, w, 0);
      context.stroke();
    }
    context.strokeStyle = colours.line;
    context.strokeRect(left - x + 0.5, top - y + 0.5, columns * cell - 1, rows * cell - 1);
    const { query, key } = this.focus;
    context.strokeStyle = colours.mark;
    context.lineWidth = cell < 4 ? 0.5 : 1.5;
    if (query !== null) context.strokeRect(left - x, top + query * cell - y, columns * cell, cell);
    if (key !== null) context.strokeRect(left + key * cell - x, top - y, cell, rows * cell);
    context.restore();

    if (left > 0) {
      context.font = kSmallFont;
      context.textBaseline = "middle";
      context.textAlign = "right";
      for (let q = Math.floor(y / cell); q < rows && q * cell - y < h; ++q) {
        const at = top + (q + 0.5) * cell - y;
        if (at < top + 4) continue;
        context.fillStyle = q === query ? colours.mark : colours.ink;
        context.fillText(fit(context, visible(queries[q]), left - 8), left - 6, at);
      }
      context.textAlign = "left";
      for (let k = Math.floor(x / cell); k < columns && k * cell - x < w; ++k) {
        const at = left + (k + 0.5) * cell - x;
        if (at < left) continue;
        context.save();
        context.translate(at, top - 6);
        context.rotate(-Math.PI / 3);
        context.fillStyle = k === key ? colours.mark : colours.ink;
        context.fillText(fit(context, visible(keys[k]), kLabel - 8), 0, 0);
        context.restore();
      }
    }
    this.label(context, w, h);

    function line(fromX: number, fromY: number, dx: number, dy: number): void {
      context.moveTo(fromX, fromY);
      context.lineTo(fromX + dx, fromY + dy);
    }
  }

  /** Where cells are too small for labels, the cell pointed at says its own. */
  private label(context: CanvasRenderingContext2D, w: number, h: number): void {
    const { query, key } = this.focus;
    if (!this.scene || this.left > 0 || query === null || key === null) return;
    const colours = palette();
    const { scrollLeft, scrollTop } = this.viewport.element;
    const text = `${visible(this.scene.queries[query])} → ${visible(this.scene.keys[key])}`;
    context.font = kSmallFont;
    const width = context.measureText(text).width + 14;
    const x = Math.min(Math.max(key * this.cell - scrollLeft + 12, 2), w - width - 2);
    const y = Math.min(Math.max(query * this.cell - scrollTop - 28, 2), h - 24);
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

/** A pixel a cell; the drawing scales it. */
export function imageOf(matrix: Matrix, most = matrix.greatest()): HTMLCanvasElement {
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
      data[q * matrix.keys + matrix.key[i]] = heat[Math.round(255 * Math.min(strength(matrix.weight[i], most), 1))];
  context.putImageData(image, 0, 0);
  return canvas;
}
