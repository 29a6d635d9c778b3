// A summary, and how much of its attention falls on each sentence of the document.
import * as api from "../api";
import { debounce, field, h, percent, remembered, slider, textArea } from "../dom";
import { css, mix, palette, strength, textOn } from "../draw/colours";
import { kDocument } from "../examples";
import { barOf, modelField, nothingFor, panel, summarizes, type View } from "../parts";
import { Status } from "../status";

const kStrongest = 5; // sentences that are listed
const kLongest = 256; // tokens that the slider offers

export const summarizeView: View = (root, page) => {
  const models = page.models.filter(summarizes);
  if (!models.length)
    return nothingFor(
      root,
      "Summarize",
      "summarize",
      "a summarizer: one trained here, or a folder of BART or T5",
      "attend serve --model cnn=bart-large-cnn",
    );

  let [chooser, model] = modelField(models, "summarize", (chosen) => {
    model = chosen;
    void run();
  });
  let text = remembered.get("summarize.text", kDocument);
  let longest = 0; // tokens; 0: as the model says
  let abort = new AbortController();
  let shown: { text: string; answer: api.Summarized } | null = null;

  const status = new Status();
  const output = h("p", { class: "translation", "aria-live": "polite" });
  const parts = h("p", { class: "note" });
  const copy = h(
    "button",
    { type: "button", class: "quiet", onclick: () => void navigator.clipboard?.writeText(shown?.answer.summary ?? "") },
    "Copy",
  );
  const source = h("div", { class: "document" });
  const strongest = h("ul", { class: "bars sentences" });
  const results = h(
    "div",
    { class: "results", hidden: true },
    panel("Summary", null, h("div", { class: "answer" }, output, copy), parts),
    panel(
      "Where it comes from",
      "the stronger the colour of a sentence, the more of the summary’s attention falls on it",
      source,
      h("h3", {}, "Sentences with the most attention"),
      strongest,
    ),
  );
  const type = debounce(500, () => void run());
  const area = textArea(text, "A document to summarize", (value) => {
    remembered.set("summarize.text", (text = value));
    type();
  });

  root.append(
    h("h1", {}, "Summarize"),
    h(
      "p",
      { class: "lead" },
      "A summary is generated token by token. Each token attends to the document; the sum shows where the summary comes from.",
    ),
    h(
      "section",
      { class: "panel" },
      h(
        "div",
        { class: "fields" },
        chooser,
        slider(
          "At most",
          { min: 0, max: kLongest, step: 4, value: longest, format: (n) => (n ? `${n} tokens` : "as the model says") },
          (value) => {
            longest = value;
            type();
          },
        ),
      ),
      field("Document", area),
      status.element,
    ),
    results,
  );

  async function run(): Promise<void> {
    abort.abort();
    abort = new AbortController();
    if (!text.trim()) {
      status.note("Type a text above.");
      clear();
      return;
    }
    status.busy("Summarizing…");
    try {
      const input = text;
      const request = { model: model.id, input, ...(longest && { max_tokens: longest }) };
      shown = { text: input, answer: await api.summarize(request, abort.signal) };
      status.clear();
      draw();
    } catch (error) {
      if (!api.isAbort(error)) clear();
      status.error(error, () => void run());
    }
  }

  /** Nothing is left of a document that could not be summarized. */
  function clear(): void {
    shown = null;
    results.hidden = true;
  }

  function draw(): void {
    if (!shown) return;
    const { answer } = shown;
    const letters = Array.from(shown.text); // the server counts code points
    const piece = (from: number, to: number) => letters.slice(from, to).join("");
    const most = Math.max(...answer.sentences.map(({ weight }) => weight), 1e-6);
    const { heat } = palette();
    output.textContent = answer.summary;
    parts.textContent = [
      answer.parts > 1 && `The document was read in ${answer.parts} parts, whose summaries were summarized.`,
      answer.truncated && `${answer.truncated} tokens of the document were not read.`,
      answer.finish === "length" && "The summary was cut at its maximum length.",
    ]
      .filter(Boolean)
      .join(" ");
    let end = 0;
    source.replaceChildren(
      ...answer.sentences.flatMap((sentence) => {
        const before = piece(end, sentence.start);
        end = sentence.end;
        const mark = h("mark", { title: percent(sentence.weight) }, piece(sentence.start, end));
        const colour = mix(heat, strength(sentence.weight, most) * 0.85);
        mark.style.backgroundColor = css(colour);
        mark.style.color = textOn(colour);
        return [before, mark];
      }),
      piece(end, letters.length),
    );
    strongest.replaceChildren(
      ...[...answer.sentences]
        .sort((a, b) => b.weight - a.weight)
        .slice(0, kStrongest)
        .map(({ start, end: to, weight }) => barOf(piece(start, to).trim(), weight, percent(weight))),
    );
    results.hidden = false;
  }

  void run();
  return {
    leave: () => {
      abort.abort();
      type.cancel();
    },
    recolour: draw,
  };
};
