// The row of heads: a click shows one alone, Shift adds it or takes it away, "all" is their mean.
import { h } from "./dom";
import { headColour } from "./draw/colours";

/** The heads that are shown; null is all of them. */
export type Heads = Set<number> | null;

/** What a click on a head makes of the choice. */
export function chooseHead(heads: Heads, head: number, count: number, add: boolean): Heads {
  if (!add) return heads?.size === 1 && heads.has(head) ? null : new Set([head]);
  const next = new Set(heads ?? Array.from({ length: count }, (_, i) => i));
  if (!next.delete(head)) next.add(head);
  return next.size === count || next.size === 0 ? null : next;
}

export const adds = (event: MouseEvent): boolean => event.shiftKey || event.ctrlKey || event.metaKey;

export function headBar(count: number, heads: Heads, change: (heads: Heads) => void): HTMLElement {
  const set = (next: Heads) => {
    heads = next;
    press();
    change(next);
  };
  const all = h("button", { type: "button", class: "head all", onclick: () => set(null) }, "all");
  const buttons = Array.from({ length: count }, (_, head) => {
    const button = h(
      "button",
      {
        type: "button",
        class: "head",
        "aria-label": `Head ${head}`,
        title: `Head ${head}: click for it alone, Shift-click to add or take it away`,
        onclick: (event: MouseEvent) => set(chooseHead(heads, head, count, adds(event))),
      },
      String(head),
    );
    button.style.setProperty("--head", headColour(head));
    return button;
  });
  const press = () => {
    buttons.forEach((button, head) => button.setAttribute("aria-pressed", String(!heads || heads.has(head))));
    all.setAttribute("aria-pressed", String(!heads));
  };
  press();
  return h(
    "div",
    { class: "field", role: "group", "aria-label": "Heads" },
    h("span", { class: "label" }, "Heads"),
    h("div", { class: "heads" }, all, buttons),
  );
}
