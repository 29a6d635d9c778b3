// Lines and points over two axes.
import { h } from "../dom";
import { palette } from "./colours";
import { fontOf } from "./viewport";

export interface Series {
  name: string;
  x: number[];
  y: number[];
  colour: string;
  kind: "line" | "points";
  width?: number;
  dash?: number[];
  /** The radius of each point. */
  sizes?: number[];
}

const kMargin = { left: 38, right: 12, top: 10, bottom: 26 };

export class Plot {
  readonly canvas = h("canvas", { role: "img" });
  readonly key = h("ul", { class: "key" });
  readonly element = h("div", { class: "plot" }, this.canvas, this.key);
  private series: Series[] = [];
  private mark: number | null = null;
  private readonly resized = new ResizeObserver(() => this.draw());
  private box = { x0: 0, x1: 1, y0: 0, y1: 1 };

  /** `point` is called with the x value under the pointer, or null. */
  constructor(
    label: string,
    private readonly height: number,
    point?: (x: number | null) => void,
  ) {
    this.canvas.setAttribute("aria-label", label);
    this.resized.observe(this.element);
    if (!point) return;
    this.canvas.addEventListener("pointermove", (event) => point(this.xAt(event.offsetX)));
    this.canvas.addEventListener("pointerdown", (event) => point(this.xAt(event.offsetX)));
    this.canvas.addEventListener("pointerleave", () => point(null));
  }

  show(series: Series[], mark: number | null = null): void {
    this.series = series;
    this.mark = mark;
    this.key.replaceChildren(
      ...series
        .filter(({ name }) => name)
        .map(({ name, colour, kind }) => {
          const swatch = h("span", { class: `swatch ${kind}` });
          swatch.style.setProperty("--colour", colour);
          return h("li", {}, swatch, name);
        }),
    );
    this.draw();
  }

  destroy(): void {
    this.resized.disconnect();
  }

  private xAt(pixel: number): number {
    const { x0, x1 } = this.box;
    const width = this.canvas.clientWidth - kMargin.left - kMargin.right;
    return x0 + ((pixel - kMargin.left) / width) * (x1 - x0);
  }

  private draw(): void {
    const width = this.element.clientWidth;
    if (!width || !this.series.length) return;
    const { height } = this;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colours = palette();
    const xs = this.series.flatMap(({ x }) => x);
    const ys = this.series.flatMap(({ y }) => y).filter(Number.isFinite);
    const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
    const [low, high] = [Math.min(...ys), Math.max(...ys)];
    const pad = (high - low || 1) * 0.06;
    const [y0, y1] = [low - pad, high + pad];
    this.box = { x0, x1, y0, y1 };
    const px = (x: number) => kMargin.left + ((x - x0) / (x1 - x0 || 1)) * (width - kMargin.left - kMargin.right);
    const py = (y: number) =>
      height - kMargin.bottom - ((y - y0) / (y1 - y0)) * (height - kMargin.top - kMargin.bottom);

    context.font = fontOf(12);
    context.lineWidth = 1;
    context.strokeStyle = colours.line;
    context.fillStyle = colours.muted;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of ticks(y0, y1, 5)) {
      stroke([
        [kMargin.left, py(tick)],
        [width - kMargin.right, py(tick)],
      ]);
      context.fillText(label(tick), kMargin.left - 6, py(tick));
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const tick of ticks(x0, x1, Math.max(3, Math.floor(width / 110))))
      context.fillText(label(tick), px(tick), height - kMargin.bottom + 7);

    for (const series of this.series) {
      context.globalAlpha = 1;
      context.strokeStyle = context.fillStyle = series.colour;
      if (series.kind === "line") {
        context.lineWidth = series.width ?? 1.75;
        context.lineJoin = "round";
        context.setLineDash(series.dash ?? []);
        stroke(series.x.map((x, i) => [px(x), py(series.y[i])]));
        context.setLineDash([]);
      } else {
        series.x.forEach((x, i) => {
          context.globalAlpha = 0.75;
          context.beginPath();
          context.arc(px(x), py(series.y[i]), series.sizes?.[i] ?? 3, 0, 2 * Math.PI);
          context.fill();
        });
      }
    }
    context.globalAlpha = 1;
    if (this.mark !== null) {
      context.strokeStyle = colours.mark;
      context.lineWidth = 1.5;
      stroke([
        [px(this.mark), kMargin.top],
        [px(this.mark), height - kMargin.bottom],
      ]);
    }

    function stroke(points: [number, number][] | number[][]): void {
      context.beginPath();
      points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.stroke();
    }
  }
}

/** About `count` round numbers between two numbers. */
export function ticks(from: number, to: number, count: number): number[] {
  const rough = (to - from) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const found = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to + step * 1e-9; tick += step) found.push(tick);
  return found;
}

const label = (tick: number): string => String(Number(tick.toPrecision(6))).replace("-", "−");
