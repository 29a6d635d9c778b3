// Every head of every layer, small: where to look. A grid of buttons, which arrow keys walk through.
import { h } from "../dom";
import { adds } from "../heads";
import { habit, type Matrix } from "../matrix";
import { palette, pixels, strength } from "./colours";

const kSide = 64; // pixels of a picture, whatever its size on the screen

export class Thumbnails {
  readonly element = h("div", { class: "thumbnails", role: "grid", "aria-label": "All layers and heads" });
  private cells: HTMLButtonElement[][] = [];
  private matrices: (Matrix | null)[][] = [];
  private chosen: [number, number] = [0, 0];

  constructor(private readonly choose: (layer: number, head: number, add: boolean) => void) {
    this.element.addEventListener("keydown", (event) => this.walk(event));
  }

  /** An empty grid; show() fills it as layers come. */
  reset(layers: number, heads: number): void {
    this.matrices = Array.from({ length: layers }, () => Array<Matrix | null>(heads).fill(null));
    if (this.cells.length === layers && this.cells[0]?.length === heads) return;
    this.element.style.setProperty("--heads", String(heads));
    this.cells = Array.from({ length: layers }, (_, layer) =>
      Array.from({ length: heads }, (_, head) =>
        h(
          "button",
          {
            type: "button",
            role: "gridcell",
            tabIndex: -1,
            "aria-label": `Layer ${layer}, head ${head}`,
            onclick: (event: MouseEvent) => this.choose(layer, head, adds(event)),
          },
          h("canvas", { width: kSide, height: kSide, "aria-hidden": "true" }),
        ),
      ),
    );
    this.element.replaceChildren(
      h(
        "div",
        { role: "row", class: "row heading" },
        h("span", { role: "columnheader", class: "corner" }, "layer"),
        Array.from({ length: heads }, (_, head) => h("span", { role: "columnheader" }, String(head))),
      ),
      ...this.cells.map((row, layer) =>
        h("div", { role: "row", class: "row" }, h("span", { role: "rowheader" }, String(layer)), row),
      ),
    );
  }

  show(layer: number, heads: (Matrix | null)[]): void {
    if (!this.matrices[layer]) return;
    this.matrices[layer] = heads;
    heads.forEach((matrix, head) => {
      const cell = this.cells[layer][head];
      if (!matrix || !cell) return;
      const text = `Layer ${layer}, head ${head}: ${habit(matrix)}`;
      cell.setAttribute("aria-label", text);
      cell.title = text;
      paint(cell.firstElementChild as HTMLCanvasElement, matrix);
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
    const cell = this.cells[layer]?.[this.chosen[1]];
    if (cell) cell.tabIndex = 0;
  }

  recolour(): void {
    this.matrices.forEach((heads, layer) => this.show(layer, heads));
  }

  private walk(event: KeyboardEvent): void {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const layer = Math.min(Math.max(this.chosen[0] + step[0], 0), this.cells.length - 1);
    const head = Math.min(Math.max(this.chosen[1] + step[1], 0), this.cells[0].length - 1);
    this.choose(layer, head, false);
    this.cells[layer][head].focus();
  }
}

/** Several weights that fall onto one pixel show as the greatest of them. */
function paint(canvas: HTMLCanvasElement, matrix: Matrix): void {
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(kSide, kSide);
  const data = new Uint32Array(image.data.buffer);
  const heat = pixels(palette().heat);
  const most = matrix.greatest();
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
