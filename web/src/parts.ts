// Parts that several views use: panels, the choice of a model, and the message when no model fits.
import type { Capability, Model } from "./api";
import { field, h, remembered, select } from "./dom";

export interface Page {
  models: Model[];
}

/** Fills its root, and returns what to do when the user leaves the view. */
export type View = (root: HTMLElement, page: Page) => { leave?: () => void; recolour?: () => void };

export function panel(title: string, note: string | Node | null, ...content: (Node | null | false)[]): HTMLElement {
  return h(
    "section",
    { class: "panel" },
    h("header", {}, h("h2", {}, title), typeof note === "string" ? h("p", { class: "note" }, note) : note),
    content.filter((part): part is Node => Boolean(part)),
  );
}

export const able = (page: Page, capability: Capability): Model[] =>
  page.models.filter((model) => model.capabilities.includes(capability));

/** Encoder–decoders can summarize, but translators between known languages were not trained for it. */
export const summarizes = (model: Model): boolean =>
  model.capabilities.includes("summarize") && !model.source_language && !model.languages?.length;

export const languages = (model: Model): string =>
  model.source_language && model.target_language ? ` (${model.source_language} → ${model.target_language})` : "";

/** The layer of a decoder in which a token attends to what it translates. In deep decoders, the last layer is already
 * about the next token. */
export const alignedLayer = (layers: number): number => layers - (layers > 4 ? 2 : 1);

/** The models for a view; the last choice is remembered. */
export function modelField(models: Model[], job: string, change: (model: Model) => void): [HTMLElement, Model] {
  const wanted = remembered.get(`model.${job}`, "");
  const first = models.find((model) => model.id === wanted) ?? models[0];
  const options = models.map((model) => ({ value: model.id, label: model.id + languages(model) }));
  const control = select(options, first.id, (id) => {
    remembered.set(`model.${job}`, id);
    change(models.find((model) => model.id === id)!);
  });
  return [field("Model", control), first];
}

/** A line of a bar chart; a share of 1 fills it. */
export function barOf(name: string, share: number, figure: string, mine = false): HTMLElement {
  const fill = h("span", { class: "fill" });
  fill.style.width = `${Math.min(100, Math.max(1, 100 * share))}%`;
  return h(
    "li",
    { class: mine ? "mine" : "" },
    h("span", { class: "name" }, name),
    h("span", { class: "track" }, fill),
    h("span", { class: "figure" }, figure),
  );
}

/** What a view shows if no served model fits. */
export function nothingFor(root: HTMLElement, title: string, what: string, needs: string, example: string): object {
  root.append(
    h("h1", {}, title),
    h(
      "section",
      { class: "panel empty" },
      h("h2", {}, `No model here can ${what}`),
      h("p", {}, `This view needs ${needs}. Start the server with one:`),
      h("pre", {}, h("code", {}, example)),
    ),
  );
  return {};
}
