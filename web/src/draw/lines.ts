// The attention weights as lines from the queries on the left to the keys on the right; each head has its own colour.
import { h, visible } from "../dom";
import type { Matrix } from "../matrix";
import { kNowhere, type Focus, type Head, type Scene } from "../scene";
import { headColour, palette } from "./colours";
import { fit, fontOf, Viewport } from "./viewport";

const kRow = 25;
const kPad = 6;
const kSteps = 10; // shades of a line: lines of one shade are drawn at once
const kFaintest = 0.02; // share of the full colour; fainter lines would not be visible
const kMost = 300; // lines at once: the strongest of those in sight
const kSpan = 520; // px between the two columns at most

export class Lines {
  readonly viewport = new Viewport(
    "Lines from each token to the tokens it attends to. Arrow keys move from token to token.",
    "application",
  );
  private readonly sentence = h("figcaption", { class: "sentence" });
  readonly element = h(
    "figure",
    { class: "lines" },
    this.sentence,
    this.viewport.element,
    h("p", { class: "note" }, "Left attends to right. Point at a token to see its lines alone."),
  );
  private scene: Scene | null = null;
  private focus: Focus = kNowhere;
  private most = 1;

  constructor(
    private readonly onFocus: (focus: Focus) => void,
    private readonly limit: () => number = () => 560,
  ) {
    this.viewport.draw = (...args) => this.draw(...args);
    const element = this.viewport.element;
    element.addEventListener("pointermove", (event) => onFocus(this.tokenAt(event)));
    element.addEventListener("pointerdown", (event) => onFocus(this.tokenAt(event)));
    element.addEventListener("pointerleave", () => onFocus(kNowhere));
    element.addEventListener("keydown", (event) => this.walk(event));
  }

  show(scene: Scene): void {
    this.scene = scene;
    this.most = Math.max(...scene.heads.map(({ matrix }) => matrix.fullScale()), 1e-6);
    this.sentence.textContent = this.sentence.title = scene.title;
    const rows = Math.max(scene.queries.length, scene.keys.length);
    this.viewport.setContent(1, rows * kRow + 2 * kPad, this.limit());
  }

  point(focus: Focus): void {
    this.focus = focus;
    const row = focus.query ?? focus.key;
    if (row !== null) this.reveal(row);
    this.viewport.request();
  }

  recolour(): void {
    this.viewport.request();
  }

  private tokenAt(event: PointerEvent): Focus {
    if (!this.scene) return kNowhere;
    const { x, y } = this.viewport.at(event);
    const row = Math.floor((y - kPad + this.viewport.element.scrollTop) / kRow);
    const column = this.columns(this.viewport.width);
    if (x < column.left) return { query: row >= 0 && row < this.scene.queries.length ? row : null, key: null };
    if (x > column.right) return { query: null, key: row >= 0 && row < this.scene.keys.length ? row : null };
    return kNowhere;
  }

  private walk(event: KeyboardEvent): void {
    if (!this.scene) return;
    if (event.key === "Escape") return this.onFocus(kNowhere);
    const { queries, keys } = this.scene;
    const onKeys = this.focus.query === null && this.focus.key !== null;
    const at = (onKeys ? this.focus.key : this.focus.query) ?? -1;
    const move = (to: number, right: boolean) => {
      event.preventDefault();
      const row = Math.min(Math.max(to, 0), (right ? keys : queries).length - 1);
      this.onFocus(right ? { query: null, key: row } : { query: row, key: null });
    };
    if (event.key === "ArrowDown") move(at + 1, onKeys);
    else if (event.key === "ArrowUp") move(at - 1, onKeys);
    else if (event.key === "ArrowRight") move(Math.max(at, 0), true);
    else if (event.key === "ArrowLeft") move(Math.max(at, 0), false);
  }

  /** Scrolls to a token that was selected in another picture. */
  private reveal(row: number): void {
    const { scrollTop, clientHeight } = this.viewport.element;
    const y = kPad + row * kRow;
    if (y + kRow <= scrollTop || y >= scrollTop + clientHeight)
      this.viewport.element.scrollTop = Math.max(0, y - clientHeight / 2);
  }

  private columns(width: number): { left: number; right: number } {
    const label = Math.max(Math.min(180, width * 0.3), (width - kSpan) / 2);
    return { left: label, right: width - label };
  }

  private draw(context: CanvasRenderingContext2D, _: number, y: number, w: number, h: number): void {
    const { scene, focus } = this;
    if (!scene) return;
    const colours = palette();
    const { left, right } = this.columns(w);
    const place = (row: number) => kPad + (row + 0.5) * kRow - y;
    const shows = (row: number) => place(row) > -kRow && place(row) < h + kRow;
    const pointed = focus.query !== null || focus.key !== null;

    this.bars(context, left, right, place, shows);

    context.lineWidth = pointed ? 2 : 1.25;
    context.lineCap = "round";
    const bend = (right - left) * 0.45;
    const faintest = this.faintest(shows);
    for (const { head, matrix } of scene.heads) {
      const paths: Path2D[] = [];
      this.each(matrix, shows, (q, key, share) => {
        if (share < faintest) return;
        const path = (paths[Math.min(Math.floor(share * kSteps), kSteps - 1)] ??= new Path2D());
        path.moveTo(left + 3, place(q));
        path.bezierCurveTo(left + bend, place(q), right - bend, place(key), right - 3, place(key));
      });
      context.strokeStyle = colourOf(head);
      paths.forEach((path, step) => {
        context.globalAlpha = Math.min(1, ((step + 0.6) / kSteps) * (pointed ? 1.4 : 0.9));
        context.stroke(path);
      });
    }
    context.globalAlpha = 1;

    context.font = fontOf(13);
    context.textBaseline = "middle";
    const text = (labels: string[], align: CanvasTextAlign, x: number, marked: number | null) => {
      context.textAlign = align;
      for (let row = Math.max(0, Math.floor((y - kPad) / kRow)); row < labels.length && shows(row); ++row) {
        context.fillStyle = row === marked ? colours.mark : colours.ink;
        context.fillText(fit(context, visible(labels[row]), left - 12), x, place(row));
      }
    };
    text(scene.queries, "right", left - 7, focus.query);
    text(scene.keys, "left", right + 7, focus.key);
  }

  /** Every line that has an end in sight, with its share of the full colour. */
  private each(
    matrix: Matrix,
    shows: (row: number) => boolean,
    visit: (q: number, key: number, share: number) => void,
  ): void {
    const { focus, most } = this;
    const least = kFaintest * most;
    for (let q = focus.query ?? 0; q < (focus.query === null ? matrix.queries : focus.query + 1); ++q) {
      const seen = shows(q);
      for (let i = matrix.start[q]; i < matrix.start[q + 1]; ++i) {
        const key = matrix.key[i];
        if (matrix.weight[i] < least || (!seen && !shows(key))) continue;
        if (focus.query === null && focus.key !== null && focus.key !== key) continue;
        visit(q, key, Math.min(1, matrix.weight[i] / most));
      }
    }
  }

  /** The share from which on lines are drawn. Long texts have more lines than a reader can tell apart, and than a
   * browser can draw in a frame. */
  private faintest(shows: (row: number) => boolean): number {
    const buckets = new Uint32Array(101);
    for (const { matrix } of this.scene!.heads)
      this.each(matrix, shows, (_q, _k, share) => ++buckets[Math.round(share * 100)]);
    let count = 0;
    for (let bucket = 100; bucket > 0; --bucket) {
      count += buckets[bucket];
      if (count > kMost) return Math.min(1, (bucket + 0.5) / 100);
    }
    return kFaintest;
  }

  /** Behind the attended tokens: a stripe for each head, as strong as the weight. */
  private bars(
    context: CanvasRenderingContext2D,
    left: number,
    right: number,
    place: (row: number) => number,
    shows: (row: number) => boolean,
  ): void {
    const { focus, most } = this;
    const heads = this.scene!.heads;
    const width = Math.min(180, left - 4);
    const stripe = width / heads.length;
    const paint = (from: number, row: number, index: number, weight: number) => {
      if (!shows(row)) return;
      context.globalAlpha = Math.min(0.75, (weight / most) * 0.75);
      context.fillStyle = colourOf(heads[index].head);
      context.fillRect(from + index * stripe, place(row) - kRow / 2 + 2, stripe, kRow - 4);
    };
    heads.forEach(({ matrix }, index) => {
      if (focus.query !== null)
        for (const { key, weight } of matrix.row(focus.query)) paint(right + 2, key, index, weight);
      else if (focus.key !== null)
        for (const { key, weight } of matrix.column(focus.key)) paint(left - 2 - width, key, index, weight);
    });
    context.globalAlpha = 1;
  }
}

/** A matrix that stands for several heads has the accent colour. */
const colourOf = (head: Head["head"]): string => (head === null ? palette().accent : headColour(head));
