// The legend of a heat map: its colours, with the weights that they stand for.
import { h } from "../dom";
import { palette, pixels, strength } from "./colours";

const kWidth = 192;

/** 0.0042, 0.42, 1: two digits that count. */
const figure = (weight: number): string => String(Number(weight.toPrecision(2)));

export class ColourBar {
  private readonly canvas = h("canvas", { width: kWidth, height: 1, "aria-hidden": "true" });
  private readonly ends = [h("span"), h("span"), h("span")];
  readonly element = h("span", { class: "colour-bar" }, this.canvas, this.ends);

  /** `most` is drawn in full colour; `greatest` is the greatest weight, which may be above it. */
  show(most: number, greatest = most): void {
    const context = this.canvas.getContext("2d")!;
    const image = context.createImageData(kWidth, 1);
    const data = new Uint32Array(image.data.buffer);
    const heat = pixels(palette().heat);
    data.forEach((_, i) => (data[i] = heat[Math.round(255 * strength(i / (kWidth - 1), 1))]));
    context.putImageData(image, 0, 0);
    const labels = ["0", figure(most / 2), (greatest > most * 1.01 ? "≥ " : "") + figure(most)];
    labels.forEach((label, i) => (this.ends[i].textContent = label));
    this.element.title = `Weights from 0 to ${figure(most)}${greatest > most * 1.01 ? " and more" : ""}`;
  }
}
