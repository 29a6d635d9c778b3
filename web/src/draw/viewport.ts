// A scrollable window onto a drawing of any size. Only the part in sight is drawn, so 512 tokens scroll as fast as 12.
import { h } from "../dom";

export interface Pointer {
  x: number;
  y: number;
}

export class Viewport {
  readonly canvas = h("canvas", { "aria-hidden": "true" });
  private readonly spacer = h("div", { class: "spacer" }, this.canvas);
  readonly element = h("div", { class: "viewport", tabIndex: 0 }, this.spacer);
  private pending = 0;
  private readonly resized = new ResizeObserver(() => this.onResize());

  /** Draws the part of the content that begins at (x, y); the canvas is w × h. */
  draw: (context: CanvasRenderingContext2D, x: number, y: number, w: number, h: number) => void = () => {};
  onResize: () => void = () => this.request();

  constructor(label: string, role = "group") {
    this.element.setAttribute("role", role);
    this.element.setAttribute("aria-label", label);
    this.element.addEventListener("scroll", () => this.request(), { passive: true });
    this.resized.observe(this.element);
  }

  get width(): number {
    return this.element.clientWidth;
  }

  /** The size of the whole drawing. The window is as high as the drawing, up to a limit. */
  setContent(width: number, height: number, limit: number): void {
    this.spacer.style.width = `${Math.max(width, 1)}px`;
    this.spacer.style.height = `${Math.max(height, 1)}px`;
    this.element.style.height = `${Math.min(height, limit) + (width > this.width ? 14 : 0)}px`;
    this.paint(); // at once: an empty frame would flicker
  }

  request(): void {
    this.pending ||= requestAnimationFrame(() => {
      this.pending = 0;
      this.paint();
    });
  }

  at(event: MouseEvent): Pointer {
    const box = this.element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  destroy(): void {
    this.resized.disconnect();
    cancelAnimationFrame(this.pending);
  }

  private paint(): void {
    const { clientWidth: w, clientHeight: h, scrollLeft, scrollTop } = this.element;
    if (w === 0 || h === 0) return;
    const ratio = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) {
      this.canvas.width = Math.round(w * ratio);
      this.canvas.height = Math.round(h * ratio);
      this.canvas.style.width = `${w}px`;
      this.canvas.style.height = `${h}px`;
    }
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, w, h);
    this.draw(context, scrollLeft, scrollTop, w, h);
  }
}

/** The font of canvases, in pixels. */
export const fontOf = (size: number, bold = false): string =>
  `${bold ? "600 " : ""}${size}px ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif`;

/** The text, shortened until it fits. */
export function fit(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > width) --end;
  return `${text.slice(0, end)}…`;
}
