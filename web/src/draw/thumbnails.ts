// All heads of all layers as small pictures: a grid of buttons. Arrow keys move through it. A picture is drawn when it
// comes into sight.
import { h } from "../dom";
import { adds } from "../heads";
import type { Matrix } from "../matrix";
import { palette, pixels, strength } from "./colours";

const kSide = 96; // pixels of a picture, whatever its size on the screen

export interface Grid {
  /** The numbers of the layers and heads. */
  layers: number[];
  heads: number[];
  /** The weights of a head, by its place; null if they are not loaded yet. */
  matrix: (layer: number, head: number) => Matrix | null;
}

export class Thumbnails {
  readonly element = h("div", { class: "thumbnails", role: "grid", "aria-label": "All layers and heads" });
  private grid: Grid = { layers: [], heads: [], matrix: () => null };
  private cells: HTMLButtonElement[][] = [];
  private chosen: [number, number] = [0, 0];
  private readonly places = new Map<Element, [number, number]>();
  private readonly inSight = new Set<Element>();
  private readonly painted = new Set<Element>();
  private readonly watch: IntersectionObserver;

  /** With `follows`, the arrow keys choose the heads that they come to; otherwise they only move the focus. Pictures up
   * to `margin` pixels away from the window are drawn ahead. */
  constructor(
    private readonly choose: (layer: number, head: number, add: boolean) => void,
    private readonly follows: boolean,
    margin: number,
  ) {
    this.watch = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (!isIntersecting) this.inSight.delete(target);
          else {
            this.inSight.add(target);
            this.paint(target);
          }
        }
      },
      { rootMargin: `${margin}px` },
    );
    this.element.addEventListener("keydown", (event) => this.walk(event));
  }

  /** Another text or view. */
  reset(grid: Grid): void {
    const same = String([grid.layers, grid.heads]) === String([this.grid.layers, this.grid.heads]);
    this.grid = grid;
    this.painted.clear();
    if (same && this.cells.length) return;
    this.watch.disconnect();
    this.inSight.clear();
    this.places.clear();
    this.element.style.setProperty("--heads", String(grid.heads.length));
    this.cells = grid.layers.map((layer, l) =>
      grid.heads.map((head, hd) => {
        const cell = h(
          "button",
          {
            type: "button",
            role: "gridcell",
            tabIndex: -1,
            "aria-label": `Layer ${layer}, head ${head}`,
            onclick: (event: MouseEvent) => this.choose(l, hd, adds(event)),
          },
          h("canvas", { width: kSide, height: kSide, "aria-hidden": "true" }),
        );
        this.places.set(cell, [l, hd]);
        this.watch.observe(cell);
        return cell;
      }),
    );
    this.element.replaceChildren(
      h(
        "div",
        { role: "row", class: "row heading" },
        h("span", { role: "columnheader", class: "corner" }, "layer"),
        grid.heads.map((head) => h("span", { role: "columnheader" }, String(head))),
      ),
      ...this.cells.map((row, l) =>
        h("div", { role: "row", class: "row" }, h("span", { role: "rowheader" }, String(grid.layers[l])), row),
      ),
    );
  }

  /** The weights of a layer are there, and what its heads do. */
  show(layer: number, habits: string[]): void {
    this.cells[layer]?.forEach((cell, head) => {
      const text = `Layer ${this.grid.layers[layer]}, head ${this.grid.heads[head]}: ${habits[head] ?? ""}`;
      cell.setAttribute("aria-label", text);
      cell.title = text;
      this.painted.delete(cell);
      if (this.inSight.has(cell)) this.paint(cell);
    });
  }

  /** Marks the chosen heads of a layer. */
  mark(layer: number, heads: Set<number>): void {
    this.cells.forEach((row, l) =>
      row.forEach((cell, hd) => {
        cell.setAttribute("aria-selected", String(l === layer && heads.has(hd)));
        cell.tabIndex = -1;
      }),
    );
    this.chosen = [layer, Math.min(...heads)];
    const cell = this.cells[layer]?.[this.chosen[1]] ?? this.cells[0]?.[0];
    if (cell) cell.tabIndex = 0;
  }

  recolour(): void {
    this.painted.clear();
    for (const cell of this.inSight) this.paint(cell);
  }

  destroy(): void {
    this.watch.disconnect();
  }

  private walk(event: KeyboardEvent): void {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const from = this.places.get(event.target as Element) ?? this.chosen;
    if (!step) return;
    event.preventDefault();
    const layer = Math.min(Math.max(from[0] + step[0], 0), this.cells.length - 1);
    const head = Math.min(Math.max(from[1] + step[1], 0), this.cells[0].length - 1);
    if (this.follows) this.choose(layer, head, false);
    else (this.element.querySelector<HTMLElement>('[tabindex="0"]') ?? this.cells[0][0]).tabIndex = -1;
    this.cells[layer][head].tabIndex = 0;
    this.cells[layer][head].focus();
  }

  private paint(cell: Element): void {
    if (this.painted.has(cell)) return;
    const matrix = this.grid.matrix(...this.places.get(cell)!);
    if (!matrix) return;
    this.painted.add(cell);
    paint(cell.firstElementChild as HTMLCanvasElement, matrix);
  }
}

/** Of several weights that share a pixel, the greatest is drawn. */
function paint(canvas: HTMLCanvasElement, matrix: Matrix): void {
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(kSide, kSide);
  const data = new Uint32Array(image.data.buffer);
  const heat = pixels(palette().heat);
  const most = matrix.fullScale();
  const level = new Uint8Array(kSide * kSide);
  const across = kSide / matrix.keys;
  const down = kSide / matrix.queries;
  for (let q = 0; q < matrix.queries; ++q)
    for (let i = matrix.start[q]; i < matrix.start[q + 1]; ++i) {
      const shade = Math.round(255 * strength(matrix.weight[i], most));
      const k = matrix.key[i];
      for (let y = Math.floor(q * down); y < Math.max((q + 1) * down, q * down + 0.5); ++y)
        for (let x = Math.floor(k * across); x < Math.max((k + 1) * across, k * across + 0.5); ++x)
          if (shade > level[y * kSide + x]) level[y * kSide + x] = shade;
    }
  level.forEach((shade, i) => (data[i] = heat[shade]));
  context.putImageData(image, 0, 0);
}
