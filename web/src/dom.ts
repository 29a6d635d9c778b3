// Elements and controls, without a framework. Every control is a native element with a label.

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

/** Makes an element. Functions become listeners, known names are set as properties, other names as attributes. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props | null = null,
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value as EventListener);
    else if (name === "class") element.className = String(value);
    else if (name in element && !name.startsWith("aria")) (element as unknown as Props)[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child): child is Node | string => Boolean(child)));
  return element;
}

let ids = 0;
const nextId = (): string => `c${++ids}`;

export function field(label: string, control: HTMLElement, hint?: string): HTMLElement {
  control.id ||= nextId();
  return h(
    "div",
    { class: "field" },
    h("label", { htmlFor: control.id }, label, hint ? h("span", { class: "hint" }, hint) : null),
    control,
  );
}

export interface Option {
  value: string;
  label: string;
}

export function select(options: Option[], value: string, change: (value: string) => void): HTMLSelectElement {
  const element = h("select", { onchange: () => change(element.value) });
  setOptions(element, options, value);
  return element;
}

export function setOptions(element: HTMLSelectElement, options: Option[], value: string): void {
  element.replaceChildren(...options.map(({ value, label }) => h("option", { value }, label)));
  element.value = options.some((option) => option.value === value) ? value : (options[0]?.value ?? "");
}

export interface Range {
  min: number;
  max: number;
  step: number;
  value: number;
  format?: (value: number) => string;
}

/** A slider with its number beside it. */
export function slider(label: string, range: Range, change: (value: number) => void): HTMLElement {
  const format = range.format ?? String;
  const output = h("output", {}, format(range.value));
  const input = h("input", {
    type: "range",
    min: String(range.min),
    max: String(range.max),
    step: String(range.step),
    id: nextId(),
    oninput: () => {
      output.textContent = format(input.valueAsNumber);
      change(input.valueAsNumber);
    },
  });
  input.value = String(range.value);
  return h("div", { class: "field slider" }, h("label", { htmlFor: input.id }, label), output, input);
}

/** A choice between a few values, as a row of radio buttons. */
export function segmented(
  label: string,
  options: Option[],
  value: string,
  change: (value: string) => void,
): HTMLFieldSetElement {
  const name = nextId();
  return h(
    "fieldset",
    { class: "segmented" },
    h("legend", {}, label),
    h(
      "div",
      { class: "segments" },
      options.map((option) => {
        const input = h("input", { type: "radio", name, value: option.value, onchange: () => change(option.value) });
        input.checked = option.value === value;
        return h("label", {}, input, h("span", {}, option.label));
      }),
    ),
  );
}

export function toggle(label: string, checked: boolean, change: (checked: boolean) => void): HTMLElement {
  const input = h("input", { type: "checkbox", onchange: () => change(input.checked) });
  input.checked = checked;
  return h("label", { class: "toggle" }, input, h("span", {}, label));
}

/** A text area that grows with its text. */
export function textArea(value: string, placeholder: string, input: (value: string) => void): HTMLTextAreaElement {
  const grow = () => {
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight + 2, 260)}px`;
  };
  const element = h("textarea", {
    rows: 2,
    placeholder,
    spellcheck: false,
    oninput: () => {
      grow();
      input(element.value);
    },
  });
  element.value = value;
  requestAnimationFrame(grow);
  return element;
}

/** Keeps what the user typed until the tab is closed. */
export const remembered = {
  get: (name: string, otherwise: string): string => sessionStorage.getItem(`attend.${name}`) ?? otherwise,
  has: (name: string): boolean => sessionStorage.getItem(`attend.${name}`) !== null,
  set: (name: string, value: string): void => sessionStorage.setItem(`attend.${name}`, value),
};

export function debounce(delay: number, work: () => void): { (): void; cancel(): void } {
  let timer = 0;
  const run = () => {
    clearTimeout(timer);
    timer = window.setTimeout(work, delay);
  };
  return Object.assign(run, { cancel: () => clearTimeout(timer) });
}

export const percent = (share: number): string =>
  share >= 0.1 ? `${Math.round(100 * share)} %` : share >= 0.001 ? `${(100 * share).toFixed(1)} %` : "< 0.1 %";

/** A token as a label: white space becomes visible signs, and the space before a token is dropped. */
export const visible = (token: string): string =>
  token
    .replace(/^ +(?=\S)/, "")
    .replace(/\n/g, "↵")
    .replace(/\t/g, "⇥")
    .replace(/^ +$/, (spaces) => "␣".repeat(spaces.length)) || "∅";
