// A language model generates a text token by token: the probability of each token, the alternatives, and the attention
// weights that it was predicted from.
import * as api from "../api";
import type { AttentionData, WrittenToken } from "../api";
import { field, h, percent, remembered, slider, textArea, visible } from "../dom";
import { css, mix, palette } from "../draw/colours";
import { exampleFor } from "../examples";
import { match } from "../match";
import { Matrix, mean } from "../matrix";
import { able, barOf, modelField, nothingFor, panel, type View } from "../parts";
import { Status } from "../status";
import { Tokens, tokensIn } from "../tokens";

const kAtOnce = 64e6; // weights up to which the attention of all layers is loaded; otherwise of one layer
const kMost = 300; // tokens that can be asked for

export const generateView: View = (root, page) => {
  const models = able(page, "generate");
  if (!models.length)
    return nothingFor(
      root,
      "Generate",
      "generate text",
      "a language model: a GPT-2 folder, or a model trained with attend train",
      "attend serve --model gpt2=gpt2",
    );

  let [chooser, model] = modelField(models, "generate", (chosen) => {
    stop();
    model = chosen;
    layer = -1;
    if (!remembered.has("generate.prompt")) area.value = prompt = exampleFor(model).beginning;
    clear();
    offer();
  });
  let prompt = remembered.get("generate.prompt", exampleFor(model).beginning);
  const options = { max_tokens: 60, temperature: 0.8, top_p: 0.95, top_k: 50, seed: 1 };
  let written: WrittenToken[] = [];
  let asked = ""; // the prompt of the text that is shown
  let abort: AbortController | null = null;
  let loading: AbortController | null = null;
  let seen: AttentionData | null = null;
  let layer = -1; // −1: the mean of all
  let chosen: number | null = null;
  let pinned: number | null = null;

  const status = new Status();
  const spoken = h("p", { class: "quietly", "aria-live": "polite" });
  const before = new Tokens("Tokens of the prompt", {}, true);
  const text = new Tokens(
    "Generated tokens",
    {
      point: (token) => choose(token ?? pinned),
      pick: (token) => {
        pinned = pinned === token ? null : token;
        text.press(pinned);
        choose(token);
      },
    },
    true,
  );
  const detail = h("div", { class: "detail" });
  const attended = h("div", { class: "attended" });
  const layerSlot = h("div", { class: "fields" });
  const start = h("button", { type: "submit", class: "primary" }, "Generate");
  const halt = h("button", { type: "button", hidden: true, onclick: () => stop() }, "Stop");
  const summary = h("p", { class: "note" });
  const number = (label: string, name: keyof typeof options, min: number, max: number, step: number) =>
    slider(
      label,
      { min, max, step, value: options[name], ...(step < 1 && { format: (x: number) => x.toFixed(2) }) },
      (value) => {
        options[name] = value;
      },
    );
  const sliders = h("div", { class: "sliders" });
  const area = textArea(prompt, "The beginning of the text", (value) =>
    remembered.set("generate.prompt", (prompt = value)),
  );
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void generate();
  });

  root.append(
    h("h1", {}, "Generate"),
    h(
      "p",
      { class: "lead" },
      "A language model generates one token at a time. The stronger the line under a token, the more likely it was.",
    ),
    h(
      "form",
      {
        class: "panel",
        onsubmit: (event: Event) => {
          event.preventDefault();
          void generate();
        },
      },
      h("div", { class: "fields" }, chooser),
      field("Prompt", area, "Ctrl + Enter generates"),
      sliders,
      h("div", { class: "buttons" }, start, halt),
      status.element,
    ),
    h(
      "div",
      { class: "columns wide-left" },
      panel("Text", summary, h("div", { class: "prose" }, before.element, text.element), spoken),
      panel("Token", null, detail, attended, layerSlot),
    ),
  );
  offer();
  describe();

  /** The options; no more tokens than the model's context has room for. */
  function offer(): void {
    const most = Math.max(1, Math.min(kMost, (model.context ?? Infinity) - 1));
    options.max_tokens = Math.min(options.max_tokens, most);
    sliders.replaceChildren(
      number("Tokens", "max_tokens", 1, most, 1),
      number("Temperature", "temperature", 0, 2, 0.05),
      number("Top-p", "top_p", 0.05, 1, 0.05),
      number("Top-k", "top_k", 0, 200, 1),
      number("Seed", "seed", 0, 100, 1),
    );
  }

  function stop(): void {
    abort?.abort();
  }

  /** Nothing is left of the last text. */
  function clear(): void {
    loading?.abort();
    written = [];
    seen = null;
    rows = null;
    chosen = pinned = null;
    text.show([]);
    before.show([]);
    before.tint(null);
    describe();
    attended.replaceChildren();
    layerSlot.replaceChildren();
    summary.textContent = "";
  }

  /** The number of tokens to ask for: prompt and generated tokens together must fit into the context. */
  async function roomFor(given: string, signal: AbortSignal): Promise<number> {
    if (model.context === null || !model.capabilities.includes("tokenize")) return options.max_tokens;
    const length = await api.countTokens(model.id, given, signal);
    const room = model.context - length;
    if (room < 1)
      throw new api.ApiError(
        `The prompt has ${length} tokens and leaves no room in the model's context of ${model.context} tokens.`,
        400,
        "input_too_long",
      );
    return Math.min(options.max_tokens, room);
  }

  async function generate(): Promise<void> {
    stop();
    abort = new AbortController();
    const mine = abort;
    clear();
    asked = prompt;
    before.show(asked ? [asked] : []);
    start.hidden = true;
    halt.hidden = false;
    text.element.setAttribute("aria-busy", "true");
    status.busy("Waiting for the first token…");
    let ended = "";
    const began = performance.now();
    try {
      const { top_k, ...rest } = options;
      const max_tokens = await roomFor(asked, mine.signal);
      const stream = api.complete(
        { model: model.id, prompt: asked, logprobs: 5, ...rest, max_tokens, ...(top_k > 0 && { top_k }) },
        mine.signal,
      );
      for (;;) {
        const step = await stream.next();
        if (step.done) {
          ended = step.value;
          break;
        }
        if (!written.length) status.clear();
        append(step.value);
      }
      status.note(
        ended !== "length"
          ? "The model ended the text."
          : max_tokens < options.max_tokens
            ? `Ended after ${written.length} tokens: the model's context of ${model.context} tokens is full.`
            : "Ended at the requested number of tokens.",
      );
    } catch (error) {
      if (mine.signal.aborted) status.note(`Stopped after ${written.length} tokens.`);
      else status.error(error, () => void generate());
      if (error instanceof api.CutShort)
        text.element.append(h("span", { class: "cut", title: "The stream was cut short here" }, "✂"));
    }
    text.element.removeAttribute("aria-busy");
    if (abort !== mine) return;
    start.hidden = false;
    halt.hidden = true;
    const seconds = (performance.now() - began) / 1000;
    const known = written.filter((token) => token.logprob !== null);
    const perplexity = Math.exp(-known.reduce((sum, token) => sum + token.logprob!, 0) / Math.max(known.length, 1));
    if (written.length)
      summary.textContent =
        `${written.length} tokens, ${(written.length / seconds).toFixed(0)} a second` +
        (known.length ? `; perplexity ${perplexity.toFixed(1)}` : "");
    spoken.textContent = written.map((token) => token.text).join("");
    await showAttention();
  }

  function append(token: WrittenToken): void {
    written.push(token);
    const share = token.logprob === null ? null : Math.exp(token.logprob);
    const button = text.append(token.text, share === null ? "" : percent(share));
    if (share !== null) shade(button, share);
    if (written.length % 12 === 0)
      spoken.textContent = written
        .slice(-12)
        .map(({ text }) => text)
        .join("");
  }

  /** A line under the token, the stronger the more likely the token was. */
  function shade(button: HTMLElement, share: number): void {
    button.style.boxShadow = `inset 0 -0.28em ${css(mix(palette().heat, 0.12 + 0.6 * Math.sqrt(share)))}`;
  }

  /** The attention weights of the finished text, in one pass. */
  async function showAttention(): Promise<void> {
    if (!written.length || !model.capabilities.includes("attention")) return;
    loading?.abort();
    loading = new AbortController();
    try {
      const input = asked + written.map((token) => token.text).join("");
      const tokens = written.length + tokensIn(asked);
      if (layer < 0 && tokens * tokens * model.layers * model.heads > kAtOnce) layer = model.layers - 1;
      seen = await api.attention(
        {
          model: model.id,
          input,
          max_tokens: 0,
          top_k: 24,
          long: "truncate",
          ...(layer >= 0 && { layers: [layer] }),
        },
        loading.signal,
      );
      layerSlot.replaceChildren();
      if (seen.truncated) {
        // The whole text has more tokens than the generated ones: the server tokenizes it anew.
        seen = null;
        status.note(
          "The attention of this text cannot be shown: tokenized again, it is longer than the model's context.",
        );
        return;
      }
      if (model.layers > 1)
        layerSlot.append(
          slider(
            "Attention of layer",
            {
              min: -1,
              max: model.layers - 1,
              step: 1,
              value: layer,
              format: (l) => (l < 0 ? "mean of all" : String(l)),
            },
            (value) => {
              layer = value;
              void showAttention();
            },
          ),
        );
      rows = null;
      choose(chosen ?? pinned);
    } catch (error) {
      if (!api.isAbort(error)) {
        seen = null;
        rows = null;
        choose(chosen);
      }
      status.error(error, () => void showAttention());
    }
  }

  let rows: Matrix | null = null;
  function weights(): Matrix | null {
    const view = seen?.views[0];
    if (!view) return null;
    rows ??= mean(view.layers.flatMap(({ heads }) => heads.map((head) => Matrix.of(head, view.key_tokens.length))));
    return rows;
  }

  function choose(token: number | null): void {
    chosen = token;
    text.mark(token);
    describe();
    const view = seen?.views[0];
    const matrix = weights();
    if (token === null || !view || !matrix) {
      attended.replaceChildren();
      text.tint(null);
      before.tint(null);
      return;
    }
    const place = match(
      view.query_tokens,
      asked,
      written.map(({ text }) => text),
    );
    const query = place.query[token];
    if (query < 0) return attended.replaceChildren();
    const entries = matrix.row(query);
    const inPrompt = new Float32Array(view.key_tokens.length);
    const inText = new Float32Array(written.length);
    for (const { key, weight } of entries) {
      if (place.written[key] < 0) inPrompt[key] = weight;
      else inText[place.written[key]] += weight;
    }
    // Many heads put their weight on the first token when they have nothing to do: the shades are scaled without it.
    const most = Math.max(1e-6, ...entries.filter(({ key }) => key > 0).map(({ weight }) => weight));
    const prompt = view.key_tokens.filter((_, i) => place.written[i] < 0);
    if (prompt.length) before.show(prompt);
    before.tint(inPrompt, most);
    text.tint(inText, most);
    const best = entries.sort((a, b) => b.weight - a.weight).slice(0, 6);
    attended.replaceChildren(
      h("h3", {}, "Predicted from (attention weights)"),
      bars(best.map(({ key, weight }) => ({ label: view.key_tokens[key], share: weight }))),
    );
  }

  function describe(): void {
    const token = chosen === null ? null : written[chosen];
    if (!token) {
      detail.replaceChildren(
        h(
          "p",
          { class: "hint" },
          written.length ? "Point at a token, or move with the arrow keys." : "Nothing generated yet.",
        ),
      );
      return;
    }
    const share = token.logprob === null ? null : Math.exp(token.logprob);
    const listed = token.alternatives.map(({ text, logprob }) => ({
      label: text,
      share: Math.exp(logprob),
      mine: text === token.text,
    }));
    if (share !== null && !listed.some(({ mine }) => mine)) listed.push({ label: token.text, share, mine: true });
    detail.replaceChildren(
      h("p", { class: "big" }, h("b", {}, visible(token.text)), share === null ? "" : ` ${percent(share)}`),
      h("h3", {}, "Most likely tokens here"),
      bars(listed),
    );
  }

  return {
    leave: () => {
      stop();
      loading?.abort();
    },
    recolour: () => {
      written.forEach(({ logprob }, i) => logprob !== null && shade(text.button(i)!, Math.exp(logprob)));
      choose(chosen);
    },
  };
};

const bars = (entries: { label: string; share: number; mine?: boolean }[]): HTMLElement =>
  h(
    "ul",
    { class: "bars" },
    entries.map(({ label, share, mine }) => barOf(visible(label), share, percent(share), mine)),
  );
