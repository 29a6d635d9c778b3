// A text as its tokens: buttons that can be shaded, selected, and reached with the arrow keys.
import { h, visible } from "./dom";
import { css, mix, palette, strength, textOn } from "./draw/colours";

/** A rough count of a text's tokens: three ASCII letters make one; a character of another script may need two. */
export const tokensIn = (text: string): number =>
  [...text].reduce((sum, letter) => sum + (letter < "\x80" ? 1 / 3 : 2), 0);

export interface TokenEvents {
  point?: (index: number | null) => void;
  pick?: (index: number) => void;
}

export class Tokens {
  readonly element: HTMLElement;
  private buttons: HTMLButtonElement[] = [];
  private shades: string[] = [];
  private current = 0;

  constructor(
    label: string,
    private readonly events: TokenEvents,
    /** As running text: spaces stay as they are, and lines break between words only. */
    private readonly prose = false,
  ) {
    this.element = h("div", { class: "tokens", role: "group", "aria-label": label });
    this.element.addEventListener("keydown", (event) => this.walk(event));
    this.element.addEventListener("pointerleave", () => events.point?.(null));
  }

  get length(): number {
    return this.buttons.length;
  }

  show(labels: string[]): void {
    if (labels.length === this.buttons.length && this.buttons.every((b, i) => b.dataset["token"] === labels[i])) return;
    this.element.replaceChildren();
    this.buttons = [];
    this.shades = [];
    this.current = 0;
    labels.forEach((label) => this.append(label));
  }

  append(label: string, description = ""): HTMLButtonElement {
    const index = this.buttons.length;
    const button = h(
      "button",
      {
        type: "button",
        class: "token",
        tabIndex: index === this.current ? 0 : -1,
        "aria-label": description ? `${visible(label)}, ${description}` : undefined,
        onpointerenter: () => this.events.point?.(index),
        onfocus: () => this.enter(index),
        onblur: () => this.events.point?.(null),
        onclick: () => this.events.pick?.(index),
      },
      this.prose && /^ +$/.test(label) ? "\u00a0" : visible(label.trim() ? label.trimStart() : label),
    );
    button.dataset["token"] = label;
    if (label.startsWith("##")) button.classList.add("joined");
    this.buttons.push(button);
    // The space before a token is put between the buttons, so that lines break there.
    if (/^ +\S/.test(label)) this.element.append(" ");
    if (this.prose) this.wordFor(label, index).append(button);
    else this.element.append(button);
    if (label.includes("\n")) this.element.append(h("br"));
    return button;
  }

  /** The word that a token continues, or a new word. */
  private wordFor(label: string, index: number): HTMLElement {
    const last = this.element.lastElementChild;
    const before = this.buttons[index - 1]?.dataset["token"];
    if (last?.className === "word" && before?.trim() && !/^\s/.test(label)) return last as HTMLElement;
    const word = h("span", { class: "word" });
    this.element.append(word);
    return word;
  }

  /** Shades each token by its weight; null removes the shades. */
  tint(weights: ArrayLike<number> | null, most?: number): void {
    const top = most ?? (weights ? Math.max(...Array.from(weights), 1e-6) : 1);
    const { heat } = palette();
    this.buttons.forEach((button, i) => {
      const share = weights ? Math.min(strength(weights[i] ?? 0, top), 1) : 0;
      const colour = share > 0.02 ? mix(heat, share * 0.85) : null;
      const shade = colour ? css(colour) : "";
      if (shade === this.shades[i]) return;
      this.shades[i] = shade;
      button.style.backgroundColor = shade;
      button.style.color = colour ? textOn(colour) : "";
    });
  }

  /** Marks the selected token. */
  mark(index: number | null): void {
    this.buttons.forEach((button, i) => button.classList.toggle("marked", i === index));
  }

  press(index: number | null): void {
    this.buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
  }

  button(index: number): HTMLButtonElement | undefined {
    return this.buttons[index];
  }

  private enter(index: number): void {
    const last = this.buttons[this.current];
    if (last) last.tabIndex = -1;
    this.current = index;
    this.buttons[index].tabIndex = 0;
    this.events.point?.(index);
  }

  private walk(event: KeyboardEvent): void {
    const last = this.buttons.length - 1;
    const to = { ArrowLeft: this.current - 1, ArrowRight: this.current + 1, Home: 0, End: last }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    this.buttons[Math.min(Math.max(to, 0), last)].focus();
  }
}
