// Questions about a story, and how much each hop of a memory network attends to each sentence.
import * as api from "../api";
import { debounce, field, h, percent, remembered, textArea } from "../dom";
import { css, mix, palette, strength, textOn } from "../draw/colours";
import { storiesFor, type Story } from "../examples";
import { able, barOf, modelField, nothingFor, panel, type View } from "../parts";
import { Status } from "../status";

const kAnswers = 5; // the most probable ones, as bars

export const memoryView: View = (root, page) => {
  const models = able(page, "answer");
  if (!models.length)
    return nothingFor(
      root,
      "Memory",
      "answer questions about a story",
      "a model that `attend train memory` has trained",
      "attend serve --model stories=stories",
    );

  let [chooser, model] = modelField(models, "memory", (chosen) => {
    model = chosen;
    offer();
    if (!remembered.has("memory.story")) fill(storiesFor(model)[0]);
    void run();
  });
  let abort = new AbortController();
  let shown: { sentences: string[]; answer: api.StoryAnswer } | null = null;

  const status = new Status();
  const type = debounce(250, () => void run());
  const typed = () => {
    remembered.set("memory.story", story.value);
    remembered.set("memory.question", question.value);
    type();
  };
  const story = textArea("", "Mary moved to the bathroom.", typed);
  const question = h("input", { type: "text", placeholder: "Where is Mary?", spellcheck: false, oninput: typed });
  const examples = h("div", { class: "examples", role: "group", "aria-label": "Examples" });
  const answered = h("p", { class: "translation", "aria-live": "polite" });
  const answers = h("ul", { class: "bars" });
  const noHops = h(
    "p",
    { class: "note", hidden: true },
    "This model has no hops: it reads the story and the question as one sequence, so there are no weights over the sentences. A memory network has them.",
  );
  const weights = h("div", {});
  const hops = panel(
    "Attention weights",
    "how much each hop attends to each sentence; outlined: the sentence that it attends to most",
    weights,
  );
  const results = h(
    "div",
    { class: "columns short", hidden: true },
    panel("Answer", null, answered, answers, noHops),
    hops,
  );
  root.append(
    h("h1", {}, "Memory"),
    h(
      "p",
      { class: "lead" },
      "A memory network attends to the sentences of a story several times. What it reads in one hop is added to the question of the next.",
    ),
    h(
      "section",
      { class: "panel" },
      h("div", { class: "fields" }, chooser),
      h(
        "div",
        { class: "columns" },
        field("Story", story, "one sentence a line, in the order of events"),
        h("div", { class: "asked" }, field("Question", question), examples),
      ),
      status.element,
    ),
    results,
  );

  /** A button for each example that the model may know the answer of. */
  function offer(): void {
    examples.replaceChildren(
      h("span", { class: "hint" }, "Examples"),
      ...storiesFor(model).map((example) =>
        h(
          "button",
          {
            type: "button",
            class: "quiet",
            onclick: () => {
              fill(example);
              typed();
            },
          },
          example.question,
        ),
      ),
    );
  }

  function fill(example: Story): void {
    story.value = example.sentences.join("\n");
    story.rows = example.sentences.length;
    story.style.height = "";
    question.value = example.question;
  }

  async function run(): Promise<void> {
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    const sentences = story.value
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
    if (!sentences.length || !question.value.trim()) {
      status.note(sentences.length ? "Type a question above." : "Type a story above.");
      clear();
      return;
    }
    status.busy("Answering…");
    try {
      const request = { model: model.id, story: sentences, question: question.value, top: kAnswers };
      const answer = await api.answer(request, signal);
      shown = { sentences, answer };
      status.note(remarks(answer));
      draw();
    } catch (error) {
      if (!api.isAbort(error)) clear();
      status.error(error, () => void run());
    }
  }

  /** Nothing is left of a question that could not be answered. */
  function clear(): void {
    shown = null;
    results.hidden = true;
    answered.replaceChildren();
  }

  function draw(): void {
    if (!shown) return;
    const { sentences, answer } = shown;
    results.hidden = false;
    answered.replaceChildren(h("b", {}, answer.answer), " ", h("span", { class: "figure" }, percent(answer.prob)));
    answers.replaceChildren(
      ...answer.answers.map(({ answer: name, prob }, i) => barOf(name, prob, percent(prob), i === 0)),
    );
    hops.hidden = !answer.hops.length;
    noHops.hidden = !hops.hidden;
    weights.replaceChildren(hopTable(sentences, answer.hops, answer.truncated ?? 0));
  }

  if (remembered.has("memory.story")) {
    story.value = remembered.get("memory.story", "");
    question.value = remembered.get("memory.question", "");
  } else {
    fill(storiesFor(model)[0]);
  }
  offer();
  void run();
  return {
    leave: () => {
      abort.abort();
      type.cancel();
    },
    recolour: draw,
  };
};

/** What the model could not use. */
function remarks({ truncated = 0, unknown = 0 }: api.StoryAnswer): string {
  const left = truncated === 1 ? "first sentence was" : `first ${truncated} sentences were`;
  const words = unknown === 1 ? "one word" : `${unknown} words`;
  return [
    truncated && `The story is longer than the model sees: the ${left} left out.`,
    unknown && `The model does not know ${words} of the story and the question.`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** Sentences × hops. The first `unseen` sentences were left out. */
function hopTable(sentences: string[], hops: number[][], unseen: number): HTMLElement {
  const { heat } = palette();
  const greatest = hops.map((hop) => hop.indexOf(Math.max(...hop)));
  const cell = (weight: number, most: boolean): HTMLElement => {
    const colour = mix(heat, strength(weight, 1));
    const element = h("td", { class: most ? "most" : "" }, weight.toFixed(2));
    element.style.backgroundColor = css(colour);
    element.style.color = textOn(colour);
    return element;
  };
  const rows = sentences.map((sentence, s) =>
    h(
      "tr",
      { class: s < unseen ? "unseen" : "" },
      h("th", { scope: "row" }, sentence),
      hops.map((hop, k) => (s < unseen ? h("td", {}, "–") : cell(hop[s], greatest[k] === s))),
    ),
  );
  return h(
    "div",
    { class: "wide", tabIndex: 0, role: "region", "aria-label": "Sentences and hops" },
    h(
      "table",
      { class: "hops" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Sentence"),
          hops.map((_, k) => h("th", { scope: "col" }, `Hop ${k + 1}`)),
        ),
      ),
      h("tbody", {}, rows),
    ),
  );
}
