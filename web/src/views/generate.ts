// Watch a model write: how likely each token was, what else it might have been, and where the model looked.
import * as api from "../api";
import type { AttentionData, WrittenToken } from "../api";
import { field, h, percent, remembered, slider, textArea, visible } from "../dom";
import { css, mix, palette } from "../draw/colours";
import { match } from "../match";
import { Matrix, mean } from "../matrix";
import { able, barOf, modelField, nothingFor, panel, type View } from "../parts";
import { Status } from "../status";
import { Tokens, tokensIn } from "../tokens";

const kAtOnce = 64e6; // weights that an answer may be made from: of longer texts one layer is asked for
const kExample = "Once upon a time there was a";

export const generateView: View = (root, page) => {
  const models = able(page, "generate");
  if (!models.length)
    return nothingFor(
      root,
      "Generate",
      "write",
      "a language model: GPT-2’s folders, or one trained here",
      "attend serve --model gpt2=gpt2",
    );

  let [chooser, model] = modelField(models, "generate", (chosen) => {
    stop();
    model = chosen;
    layer = -1;
  });
  let prompt = remembered.get("generate.prompt", kExample);
  const options = { max_tokens: 60, temperature: 0.8, top_p: 0.95, top_k: 50, seed: 1 };
  let written: WrittenToken[] = [];
  let asked = ""; // the prompt that was written on from
  let abort: AbortController | null = null;
  let looking: AbortController | null = null;
  let seen: AttentionData | null = null;
  let layer = -1; // −1: the mean of all
  let chosen: number | null = null;
  let pinned: number | null = null;

  const status = new Status();
  const spoken = h("p", { class: "quietly", "aria-live": "polite" });
  const before = new Tokens("Tokens of the prompt", {}, true);
  const text = new Tokens(
    "Tokens that were written",
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
  const looked = h("div", { class: "looked" });
  const layerSlot = h("div", { class: "fields" });
  const start = h("button", { type: "submit", class: "primary" }, "Write");
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
  const area = textArea(prompt, "How it begins", (value) => remembered.set("generate.prompt", (prompt = value)));
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void write();
  });

  root.append(
    h("h1", {}, "Generate"),
    h(
      "p",
      { class: "lead" },
      "A language model writes one token at a time. The stronger the line under a token, the likelier it was.",
    ),
    h(
      "form",
      {
        class: "panel",
        onsubmit: (event: Event) => {
          event.preventDefault();
          void write();
        },
      },
      h("div", { class: "fields" }, chooser),
      field("Prompt", area, "Ctrl + Enter writes"),
      h(
        "div",
        { class: "sliders" },
        number("Tokens", "max_tokens", 1, 300, 1),
        number("Temperature", "temperature", 0, 2, 0.05),
        number("Top-p", "top_p", 0.05, 1, 0.05),
        number("Top-k", "top_k", 0, 200, 1),
        number("Seed", "seed", 0, 100, 1),
      ),
      h("div", { class: "buttons" }, start, halt),
      status.element,
    ),
    h(
      "div",
      { class: "columns wide-left" },
      panel("Text", summary, h("div", { class: "prose" }, before.element, text.element), spoken),
      panel("Token", null, detail, looked, layerSlot),
    ),
  );
  describe();

  function stop(): void {
    abort?.abort();
  }

  async function write(): Promise<void> {
    stop();
    looking?.abort();
    abort = new AbortController();
    const mine = abort;
    written = [];
    seen = null;
    chosen = pinned = null;
    asked = prompt;
    text.show([]);
    before.show(asked ? [asked] : []);
    before.tint(null);
    describe();
    looked.replaceChildren();
    layerSlot.replaceChildren();
    summary.textContent = "";
    start.hidden = true;
    halt.hidden = false;
    text.element.setAttribute("aria-busy", "true");
    status.busy("Waiting for the first token…");
    let ended = "";
    const began = performance.now();
    try {
      const { top_k, ...rest } = options;
      const stream = api.complete(
        { model: model.id, prompt: asked, logprobs: 5, ...rest, ...(top_k > 0 && { top_k }) },
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
        ended === "length" ? "Ended at the number of tokens that was asked for." : "The model ended the text.",
      );
    } catch (error) {
      if (mine.signal.aborted) status.note(`Stopped after ${written.length} tokens.`);
      else status.error(error, () => void write());
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
    await look();
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

  /** The likelier, the fuller. */
  function shade(button: HTMLElement, share: number): void {
    button.style.boxShadow = `inset 0 -0.28em ${css(mix(palette().heat, 0.12 + 0.6 * Math.sqrt(share)))}`;
  }

  /** One pass over the finished text shows where each token was looking when the next one was chosen. */
  async function look(): Promise<void> {
    if (!written.length || !model.capabilities.includes("attention")) return;
    looking?.abort();
    looking = new AbortController();
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
        looking.signal,
      );
      layerSlot.replaceChildren(
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
            void look();
          },
        ),
      );
      rows = null;
      choose(chosen ?? pinned);
    } catch (error) {
      status.error(error, () => void look());
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
      looked.replaceChildren();
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
    if (query < 0) return looked.replaceChildren();
    const entries = matrix.row(query);
    const inPrompt = new Float32Array(view.key_tokens.length);
    const inText = new Float32Array(written.length);
    for (const { key, weight } of entries) {
      if (place.written[key] < 0) inPrompt[key] = weight;
      else inText[place.written[key]] += weight;
    }
    // Many heads rest on the first token when they have nothing to say: it must not outshine the others.
    const most = Math.max(1e-6, ...entries.filter(({ key }) => key > 0).map(({ weight }) => weight));
    const prompt = view.key_tokens.filter((_, i) => place.written[i] < 0);
    if (prompt.length) before.show(prompt);
    before.tint(inPrompt, most);
    text.tint(inText, most);
    const best = entries.sort((a, b) => b.weight - a.weight).slice(0, 6);
    looked.replaceChildren(
      h("h3", {}, "Looked at"),
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
          written.length ? "Point at a token, or walk through them with the arrow keys." : "Nothing written yet.",
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
      h("h3", {}, "It might have been"),
      bars(listed),
    );
  }

  return {
    leave: () => {
      stop();
      looking?.abort();
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
