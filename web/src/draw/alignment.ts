// Two sentences and the lines between their words: one above the other if they fit, else side by side.
import { h } from "../dom";
import { Tokens } from "../tokens";

type Side = "source" | "target";
type Weighed = { label: string; weight: number }[];
const kSvg = "http://www.w3.org/2000/svg";

export class Alignment {
  private readonly svg = document.createElementNS(kSvg, "svg");
  private readonly source = new Tokens("Words of the source", { point: (word) => this.point("source", word) });
  private readonly target = new Tokens("Words of the translation", { point: (word) => this.point("target", word) });
  readonly element = h("div", { class: "alignment" }, this.source.element, this.target.element);
  private words: Record<Side, string[]> = { source: [], target: [] };
  private pairs: [number, number][] = [];
  private paths: SVGPathElement[] = [];
  private weights: number[][] | null = null;
  private pointed: [Side, number | null] = ["target", null];
  private readonly resized = new ResizeObserver(() => this.layout());

  /** `describe` is called with the selected word, its weights if they are known, and the words it is aligned with. */
  constructor(
    private readonly describe: (side: Side | null, word: number, weights: Weighed | null, aligned: string[]) => void,
  ) {
    this.svg.setAttribute("aria-hidden", "true");
    this.element.append(this.svg);
    this.resized.observe(this.element);
  }

  get empty(): boolean {
    return this.words.target.length === 0;
  }

  word(side: Side, index: number): string {
    return this.words[side][index] ?? "";
  }

  show(source: string[], target: string[], pairs: [number, number][]): void {
    this.words = { source, target };
    this.pairs = pairs.filter(([s, t]) => s < source.length && t < target.length);
    this.weights = null;
    this.pointed = ["target", null];
    this.source.show(source);
    this.target.show(target);
    this.layout();
  }

  /** The attention weights, [target word][source word]. */
  weigh(weights: number[][] | null): void {
    this.weights = weights;
    this.point(...this.pointed);
  }

  clear(): void {
    this.show([], [], []);
  }

  recolour(): void {
    this.point(...this.pointed);
  }

  destroy(): void {
    this.resized.disconnect();
  }

  private layout(): void {
    this.element.classList.remove("tall");
    const fits = [this.source, this.target].every(({ element }) => element.scrollWidth <= this.element.clientWidth + 1);
    this.element.classList.toggle("tall", !fits);
    const frame = this.element.getBoundingClientRect();
    this.svg.setAttribute("width", String(frame.width));
    this.svg.setAttribute("height", String(frame.height));
    this.paths = this.pairs.map(([s, t]) => {
      const from = this.source.button(s)!.getBoundingClientRect();
      const to = this.target.button(t)!.getBoundingClientRect();
      const path = document.createElementNS(kSvg, "path");
      path.setAttribute("d", fits ? down(from, to, frame) : across(from, to, frame));
      return path;
    });
    this.svg.replaceChildren(...this.paths);
    this.light();
  }

  /** Highlights the lines of the selected word. */
  private light(): void {
    const [side, word] = this.pointed;
    const mine = side === "source" ? 0 : 1;
    this.paths.forEach((path, i) => {
      path.classList.toggle("lit", word !== null && this.pairs[i][mine] === word);
      path.classList.toggle("dim", word !== null && this.pairs[i][mine] !== word);
    });
  }

  private point(side: Side, word: number | null): void {
    this.pointed = [side, word];
    const mine = side === "source" ? 0 : 1;
    const linked = new Set(
      word === null ? [] : this.pairs.filter((pair) => pair[mine] === word).map((pair) => pair[1 - mine]),
    );
    this.light();
    const [here, there] = side === "source" ? [this.source, this.target] : [this.target, this.source];
    const other: Side = side === "source" ? "target" : "source";
    const weights = word === null ? null : this.row(side, word);
    here.tint(null);
    here.mark(word);
    there.mark(null);
    there.tint(
      weights
        ? weights.map(({ weight }) => weight)
        : word === null
          ? null
          : this.words[other].map((_, i) => (linked.has(i) ? 0.6 : 0)),
      1,
    );
    this.describe(
      word === null ? null : side,
      word ?? 0,
      weights,
      [...linked].map((i) => this.words[other][i]),
    );
  }

  private row(side: Side, word: number): Weighed | null {
    const { weights } = this;
    if (!weights) return null;
    return side === "target"
      ? this.words.source.map((label, s) => ({ label, weight: weights[word]?.[s] ?? 0 }))
      : this.words.target.map((label, t) => ({ label, weight: weights[t]?.[word] ?? 0 }));
  }
}

function down(from: DOMRect, to: DOMRect, frame: DOMRect): string {
  const [x1, y1] = [from.left + from.width / 2 - frame.left, from.bottom - frame.top + 2];
  const [x2, y2] = [to.left + to.width / 2 - frame.left, to.top - frame.top - 2];
  const bend = (y2 - y1) / 2;
  return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}

function across(from: DOMRect, to: DOMRect, frame: DOMRect): string {
  const [x1, y1] = [from.right - frame.left + 2, from.top + from.height / 2 - frame.top];
  const [x2, y2] = [to.left - frame.left - 2, to.top + to.height / 2 - frame.top];
  const bend = (x2 - x1) / 2;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
