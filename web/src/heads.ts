// The row of heads: a click shows one alone, Shift-click adds or removes one, "all" shows all of them.
import { h } from "./dom";
import { headColour } from "./draw/colours";

/** The places of the heads that are shown; null: all heads. */
export type Heads = Set<number> | null;

/** The choice after a click on a head. */
export function chooseHead(heads: Heads, head: number, count: number, add: boolean): Heads {
  if (!add) return heads?.size === 1 && heads.has(head) ? null : new Set([head]);
  const next = new Set(heads ?? Array.from({ length: count }, (_, i) => i));
  if (!next.delete(head)) next.add(head);
  return next.size === count || next.size === 0 ? null : next;
}

export const adds = (event: MouseEvent): boolean => event.shiftKey || event.ctrlKey || event.metaKey;

/** `names` are the numbers of the heads; `habits` say what each one does, if known. */
export function headBar(
  names: number[],
  heads: Heads,
  change: (heads: Heads) => void,
  habits: string[] = [],
): HTMLElement {
  const set = (next: Heads) => {
    heads = next;
    press();
    change(next);
  };
  const all = h(
    "button",
    { type: "button", class: "head all", title: "All heads, and their mean", onclick: () => set(null) },
    "all",
  );
  const buttons = names.map((name, head) => {
    const button = h(
      "button",
      {
        type: "button",
        class: "head",
        "aria-label": `Head ${name}`,
        title: `Head ${name}${habits[head] ? `: ${habits[head]}` : ""}. Click: this head alone; Shift-click: add or remove it`,
        onclick: (event: MouseEvent) => set(chooseHead(heads, head, names.length, adds(event))),
      },
      String(name),
    );
    button.style.setProperty("--head", headColour(name));
    return button;
  });
  const press = () => {
    buttons.forEach((button, head) => button.setAttribute("aria-pressed", String(!heads || heads.has(head))));
    all.setAttribute("aria-pressed", String(!heads));
  };
  press();
  return h(
    "div",
    { class: "field", role: "group", "aria-label": "Heads; Shift-click chooses several" },
    h("span", { class: "label" }, "Heads"),
    h("div", { class: "heads" }, all, buttons),
  );
}
