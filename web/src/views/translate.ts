// A translation, with its alignment as lines and its attention weights as shades.
import * as api from "../api";
import { Alignment } from "../draw/alignment";
import { exampleFor } from "../examples";
import { debounce, field, h, percent, remembered, slider, textArea } from "../dom";
import { languageFields, type Languages } from "../languages";
import { able, alignedLayer, modelField, nothingFor, panel, type View } from "../parts";
import { wordWeights } from "../words";
import { Status } from "../status";

export const translateView: View = (root, page) => {
  const models = able(page, "translate");
  if (!models.length)
    return nothingFor(
      root,
      "Translate",
      "translate",
      "a translator: one trained here, or a MarianMT folder",
      "attend serve --model en-de=opus-mt-en-de",
    );

  let [chooser, model] = modelField(models, "translate", (chosen) => {
    model = chosen;
    layer = null;
    offerLanguages();
    if (!remembered.has("translate.text")) area.value = text = exampleFor(model).sentence;
    void run();
  });
  let text = remembered.get("translate.text", exampleFor(model).sentence);
  let beam = 4;
  let languages: Languages | null = null;
  let layer: number | null = null; // null: the one that the alignments are computed from
  let abort = new AbortController();
  let translation = "";

  const status = new Status();
  const picture = new Alignment(describe);
  const output = h("p", { class: "translation", "aria-live": "polite" });
  const readout = h("p", { class: "readout", "aria-live": "polite" });
  const alternatives = h("ol", { class: "alternatives" });
  const others = h("details", { hidden: true }, h("summary", {}, "Other translations"), alternatives);
  const copy = h(
    "button",
    { type: "button", class: "quiet", onclick: () => void navigator.clipboard?.writeText(translation) },
    "Copy",
  );
  const layerSlot = h("div", { class: "fields" });
  const languageSlot = h("div", { class: "fields" });
  const type = debounce(400, () => void run());
  const area = textArea(text, "A sentence to translate", (value) => {
    remembered.set("translate.text", (text = value));
    type();
  });

  root.append(
    h("h1", {}, "Translate"),
    h(
      "p",
      { class: "lead" },
      "Each word of the translation attends to words of the source. Point at a word to see which ones.",
    ),
    h(
      "section",
      { class: "panel" },
      h(
        "div",
        { class: "fields" },
        chooser,
        languageSlot,
        slider("Beam", { min: 1, max: 8, step: 1, value: beam }, (value) => {
          beam = value;
          type();
        }),
      ),
      field("Text", area),
      status.element,
    ),
    panel("Translation", null, h("div", { class: "answer" }, output, copy), others),
    panel(
      "Alignment",
      "each word of the source, and the words of the translation that it became",
      picture.element,
      readout,
      layerSlot,
    ),
  );

  function offerLanguages(): void {
    let fields;
    [fields, languages] = languageFields(model, "translate", true, () => void run());
    languageSlot.replaceChildren(...fields);
    languageSlot.hidden = !languages;
  }

  async function run(): Promise<void> {
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    if (!text.trim()) {
      status.note("Type a text above.");
      clear();
      return;
    }
    status.busy("Translating…");
    try {
      const answer = await api.translate(
        {
          q: text,
          model: model.id,
          beam,
          alternatives: Math.min(2, beam - 1),
          alignments: true,
          source: languages?.source ?? model.source_language ?? "auto",
          target: languages?.target ?? model.target_language ?? "auto",
        },
        signal,
      );
      translation = answer.translatedText;
      output.textContent = translation;
      output.lang = (languages?.target ?? model.target_language ?? "").replace("_", "-");
      const more = (answer.alternatives ?? []).filter((other) => other !== translation);
      others.hidden = !more.length;
      alternatives.replaceChildren(...more.map((other) => h("li", {}, other)));
      picture.show(split(text), split(translation), answer.alignments ?? []);
      describe(null);
      status.clear();
      await showAttention(signal, answer.detectedLanguage?.language);
    } catch (error) {
      if (!api.isAbort(error)) clear();
      status.error(error, () => void run());
    }
  }

  /** Nothing is left of a text that could not be translated. */
  function clear(): void {
    translation = output.textContent = "";
    others.hidden = true;
    picture.clear();
    layerSlot.replaceChildren();
    describe(null);
  }

  /** The attention weights of the translation. */
  async function showAttention(signal: AbortSignal, detected?: string): Promise<void> {
    layerSlot.replaceChildren();
    if (!model.capabilities.includes("attention") || !translation.trim()) return;
    const request = { model: model.id, input: text, target: translation, top_k: 16, long: "truncate" } as const;
    const between = languages && { source_lang: detected ?? languages.source, target_lang: languages.target };
    const data = await api.attention({ ...request, ...between }, signal);
    if (data.truncated)
      status.note(`The attention is of a shorter text: ${data.truncated} tokens are beyond the model's limit.`);
    const cross = data.views.find(({ name }) => name === "cross");
    if (!cross?.layers.length) return;
    const depth = cross.layers.length;
    const shown = Math.min(layer ?? alignedLayer(depth), depth - 1);
    picture.weigh(wordWeights(cross, cross.layers[shown]));
    if (depth > 1)
      layerSlot.append(
        slider("Attention of layer", { min: 0, max: depth - 1, step: 1, value: shown }, (value) => {
          layer = value;
          picture.weigh(wordWeights(cross, cross.layers[value]));
        }),
      );
  }

  function describe(
    side: "source" | "target" | null,
    word = 0,
    weights: { label: string; weight: number }[] | null = null,
    aligned: string[] = [],
  ): void {
    if (!side) {
      readout.textContent = picture.empty ? "" : "Point at a word, or move with the arrow keys.";
      return;
    }
    if (!weights) {
      readout.replaceChildren(
        h("b", {}, picture.word(side, word)),
        aligned.length ? ` is aligned with ${aligned.join(" · ")}` : " is not aligned",
      );
      return;
    }
    const best = weights
      .filter(({ weight }) => weight > 0.005)
      .sort((a, b) => b.weight - a.weight)
      .slice(0, 4);
    readout.replaceChildren(
      h("b", {}, picture.word(side, word)),
      side === "target" ? " attends to " : " is attended to by ",
      best.map(({ label, weight }) => `${label} ${percent(weight)}`).join(" · ") || "nothing in particular",
    );
  }

  offerLanguages();
  void run();
  return {
    leave: () => {
      abort.abort();
      type.cancel();
      picture.destroy();
    },
    recolour: () => picture.recolour(),
  };
};

const split = (text: string): string[] => text.split(/\s+/).filter(Boolean);
