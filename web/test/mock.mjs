// A server with Attend's shapes and no model behind it: for working on the explorer, and for tests of what a healthy
// server does not do on demand (busy, slow, locked, cut short). `npm run mock` starts it on port 8090.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const kModels = [
  {
    id: "bert",
    kind: "bert",
    capabilities: ["embed", "fill-mask", "attention", "pairs", "tokenize"],
    layers: 12,
    heads: 12,
    context: 512,
  },
  {
    id: "it-en",
    kind: "marian",
    capabilities: ["translate", "attention", "tokenize"],
    layers: 3,
    heads: 4,
    context: 512,
    source_language: "it",
    target_language: "en",
  },
  { id: "gpt2", kind: "gpt2", capabilities: ["generate", "attention", "tokenize"], layers: 6, heads: 6, context: 1024 },
  {
    id: "stories",
    kind: "attend-memory-network",
    capabilities: ["answer", "attention", "tokenize"],
    layers: 1,
    heads: 1,
    context: null,
    hops: 3,
    answers: ["garden", "bathroom", "hallway", "kitchen", "office"],
  },
  {
    id: "lstm",
    kind: "attend-recurrent-classifier",
    capabilities: ["classify", "answer", "tokenize"],
    layers: 0,
    heads: 0,
    context: null,
    hops: 0,
    answers: ["garden", "yes", "no"],
  },
  {
    id: "many",
    kind: "m2m_100",
    capabilities: ["translate", "summarize", "attention", "tokenize"],
    layers: 3,
    heads: 4,
    context: 512,
    languages: ["deu_Latn", "eng_Latn", "fra_Latn", "zho_Hant", "ace_Arab"],
  },
  {
    id: "t5",
    kind: "t5",
    capabilities: ["translate", "summarize", "attention", "tokenize"],
    layers: 2,
    heads: 4,
    context: null,
  },
  { id: "tiny", kind: "gpt2", capabilities: ["generate", "attention", "tokenize"], layers: 1, heads: 1, context: 64 },
].map((model) => ({
  object: "model",
  created: 0,
  owned_by: "attend",
  source_language: null,
  target_language: null,
  ...model,
}));

const kTypes = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
const kDist = fileURLToPath(new URL("../dist/", import.meta.url));

/** Starts it; `mode` may be set at any time: "", "busy", "locked", "slow", "drip", "cut" and
 * "ends" (streams that break or just end), "broken", "empty", "no stories" (without the models that
 * answer questions about stories). */
export async function startMock({ port = 0 } = {}) {
  const state = { mode: "", requests: [] };
  const server = createServer((request, response) => {
    handle(state, request, response).catch((error) => {
      if (!response.headersSent) fail(response, error.status ?? 500, error.message, error.code ?? "internal");
    });
  });
  await new Promise((ready) => server.listen(port, "127.0.0.1", ready));
  return Object.assign(state, {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  });
}

async function handle(state, request, response) {
  const url = new URL(request.url, "http://mock");
  if (request.method === "GET" && /^\/(|[a-z]+\.[a-z]+)$/.test(url.pathname)) {
    const name = url.pathname.slice(1) || "index.html";
    response.writeHead(200, { "Content-Type": kTypes[name.split(".")[1]] });
    return response.end(await readFile(kDist + name));
  }
  if (state.mode === "locked" && request.headers.authorization !== "Bearer sesame")
    return fail(response, 401, "This server wants an API key: Authorization: Bearer KEY", "unauthorized");
  if (state.mode === "busy" && request.method === "POST")
    return fail(response, 429, "The queue is full: 64 requests wait already", "queue_full", { "Retry-After": "2" });
  if (state.mode === "slow") await sleep(1500);
  if (state.mode === "broken" && request.method === "POST") {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.write('{"model":"bert","views":[{"na');
    return setTimeout(() => response.destroy(), 20);
  }
  let body = "";
  for await (const chunk of request) body += chunk;
  const input = body ? JSON.parse(body) : Object.fromEntries(url.searchParams);
  state.requests.push({ path: url.pathname, ...input });
  const answer = kRoutes[url.pathname];
  if (!answer) return fail(response, 404, `There is no ${url.pathname}`, "not_found");
  await answer(input, response, state);
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function fail(response, status, message, code, headers = {}) {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(JSON.stringify({ error: { message, type: "error", code, param: null } }));
}

const send = (response, value) => {
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(JSON.stringify(value));
};

function modelOf(id) {
  const model = kModels.find((each) => each.id === id);
  if (!model) throw Object.assign(new Error(`There is no model ${id}`), { status: 404, code: "unknown_model" });
  return model;
}

/** What was asked for before comes at once. */
const kMemory = new Map();

const kRoutes = {
  "/v1/models": (_, response, { mode }) => {
    const served = { empty: [], "no stories": kModels.filter(({ hops }) => hops === undefined) }[mode] ?? kModels;
    send(response, { object: "list", data: served });
  },
  "/v1/attention": (input, response) => {
    const name = JSON.stringify(input);
    if (!kMemory.has(name)) kMemory.set(name, JSON.stringify(attention(input)));
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(kMemory.get(name));
  },
  "/v1/answer": ({ model, story, question, top }, response) =>
    send(response, { model, ...recall(modelOf(model), story, question, top) }),
  "/v1/embeddings": ({ input, pool }, response) =>
    send(response, {
      object: "list",
      data: input.map((text, index) => {
        const tokens = tokenize("bert", text).tokens;
        const vectors = tokens.map((_, i) => contextual(tokens, i));
        const mean = vectors[0].map((_, d) => vectors.reduce((sum, v) => sum + v[d], 0) / vectors.length);
        return {
          object: "embedding",
          index,
          ...(pool === "tokens" ? { tokens, embedding: vectors } : { embedding: mean }),
        };
      }),
    }),
  "/translate": ({ q, source, alternatives, alignments }, response) => {
    const translatedText = translation(q);
    send(response, {
      translatedText,
      ...(alternatives && { alternatives: [translatedText.replace("have never", "never")] }),
      ...(alignments && { alignments: aligned(q, translatedText) }),
      ...(source === "auto" && { detectedLanguage: { language: "eng_Latn", confidence: 90 } }),
    });
  },
  "/v1/summarize": ({ model, input, max_tokens }, response) => {
    const letters = Array.from(input);
    const ends = letters.flatMap((letter, i) => (/[.!?]/.test(letter) ? [i + 1] : []));
    const sentences = ends.map((end, i) => ({
      start: ends[i - 1] === undefined ? 0 : ends[i - 1] + 1,
      end,
      weight: i ? 0.4 / (ends.length - 1) : ends.length > 1 ? 0.6 : 1,
    }));
    const words = letters.slice(0, ends[0]).join("").split(" ");
    const summary = words.slice(0, max_tokens ?? words.length).join(" ");
    const cut = words.length > (max_tokens ?? words.length);
    const parts = input.length > 2000 ? 3 : 1;
    send(response, {
      model,
      data: [{ index: 0, summary, score: -1, ids: [], ...(cut && { finish: "length" }), parts, sentences }],
    });
  },
  "/v1/tokenize": ({ model, input }, response) =>
    send(response, {
      model,
      data: input.map((text, index) => ({ index, tokens: tokenize(modelOf(model).kind, text).tokens, ids: [] })),
    }),
  "/v1/completions": complete,
  "/v1/lessons/positions": ({ width, length }, response) =>
    send(response, {
      width: +width,
      length: +length,
      values: range(+length).map((p) =>
        range(+width).map((d) => {
          const angle = p / 10000 ** ((2 * (d >> 1)) / width);
          return d % 2 ? Math.cos(angle) : Math.sin(angle);
        }),
      ),
    }),
  "/v1/lessons/pooling": ({ width, points, seed }, response) => {
    const random = dice(`pool${seed}`);
    const wave = (x) => 2 * Math.sin(x) + x ** 0.8;
    const x = range(+points).map(() => random() * 5);
    const y = x.map((at) => wave(at) + (random() + random() - 1) * 0.9);
    const query = range(50).map((i) => i / 10);
    const weights = query.map((q) => softmax(x.map((at) => -(((q - at) / width) ** 2) / 2)));
    const fit = weights.map((row) => row.reduce((sum, w, i) => sum + w * y[i], 0));
    const mean = y.reduce((sum, value) => sum + value, 0) / y.length;
    send(response, { x, y, truth: query.map(wave), query, fit, average: query.map(() => mean), weights });
  },
};

async function complete({ model, prompt, max_tokens, temperature, logprobs, stream }, response, state) {
  const { context, kind } = modelOf(model);
  const length = tokenize(kind, prompt).tokens.length;
  if (length + max_tokens > context)
    return fail(
      response,
      400,
      `${length} + ${max_tokens} tokens are more than the context of ${context}`,
      "input_too_long",
    );
  const random = dice(prompt + temperature);
  const words =
    " little girl who lived in a house at the edge of the forest with her mother , and every morning she went out to look for berries . One day a wolf came to the door".split(
      /(?= )/,
    );
  const answers = range(Math.min(max_tokens, 120)).map((i) => {
    const text = words[i % words.length];
    const share = 0.03 + 0.95 * random() ** 0.7;
    const others = [" old", " king", " the", " dog"].map((other, k) => [
      other,
      Math.log((1 - share) * [0.5, 0.25, 0.15, 0.08][k] || 1e-9),
    ]);
    return {
      text,
      logprobs: {
        tokens: [text],
        token_logprobs: [Math.log(share)],
        top_logprobs: logprobs ? [Object.fromEntries([[text, Math.log(share)], ...others])] : null,
        text_offset: [0],
      },
    };
  });
  if (!stream)
    return send(response, {
      choices: [{ index: 0, text: answers.map(({ text }) => text).join(""), finish_reason: "length" }],
    });
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  for (const [i, answer] of answers.entries()) {
    if (response.destroyed) return;
    if (state.mode === "cut" && i === 9) return response.destroy();
    if (state.mode === "ends" && i === 9) return response.end();
    const data = JSON.stringify({
      id: "cmpl-1",
      object: "text_completion",
      choices: [{ index: 0, finish_reason: null, ...answer }],
    });
    // Cut anywhere, as networks do.
    response.write(`data: ${data.slice(0, 40)}`);
    if (i % 3 === 0) await sleep(1);
    response.write(`${data.slice(40)}\n\n`);
    await sleep(state.mode === "drip" ? 300 : 12);
  }
  response.write(
    `data: ${JSON.stringify({ choices: [{ index: 0, text: "", logprobs: null, finish_reason: "length" }] })}\n\n`,
  );
  response.end("data: [DONE]\n\n");
}

// Texts and tokens.

function tokenize(kind, text) {
  const tokens = [];
  const words = [];
  let count = 0;
  for (const word of text.match(/[\p{L}\p{N}’']+|[^\s\p{L}\p{N}]/gu) ?? []) {
    const parts = kind !== "gpt2" && word.length > 7 ? [word.slice(0, 5), word.slice(5)] : [word];
    parts.forEach((part, i) => {
      tokens.push(
        kind === "gpt2"
          ? (tokens.length && /[\p{L}\p{N}]/u.test(part) ? " " : "") + part
          : i && kind === "bert"
            ? `##${part}`
            : part,
      );
      words.push(count);
    });
    ++count;
  }
  const special = { bert: ["[CLS]", "[SEP]"], gpt2: [null, null] }[kind] ?? [null, "</s>"];
  return {
    tokens: [...(special[0] ? [special[0]] : []), ...tokens, ...(special[1] ? [special[1]] : [])],
    words: [...(special[0] ? [-1] : []), ...words, ...(special[1] ? [-1] : [])],
  };
}

/** Words as the alignments count them: what stands between white space. */
function spaced(text, kind) {
  const { tokens } = tokenize(kind, text);
  const words = text.split(/\s+/).filter(Boolean);
  let word = 0;
  let rest = words[0] ?? "";
  return {
    tokens,
    words: tokens.map((token) => {
      if (token === "</s>") return -1;
      const bare = token.trim();
      while (rest !== undefined && !rest.startsWith(bare)) rest = words[++word];
      rest = rest?.slice(bare.length);
      return word;
    }),
  };
}

const kDictionary = {
  non: "never",
  ho: "have",
  mai: "never",
  letto: "read",
  il: "the",
  libro: "book",
  nuovo: "new",
  di: "of",
  la: "the",
  ragazza: "girl",
};
function translation(text) {
  if (text.startsWith("Non ho mai letto il libro nuovo di Marco")) return "I have never read Marco's new book.";
  return text.replace(/\p{L}+/gu, (word) => kDictionary[word.toLowerCase()] ?? word);
}
function aligned(source, target) {
  if (target.startsWith("I have never read Marco"))
    return [
      [1, 0],
      [1, 1],
      [2, 2],
      [3, 3],
      [8, 4],
      [6, 5],
      [5, 6],
    ];
  const n = source.split(/\s+/).filter(Boolean).length;
  return range(Math.min(n, target.split(/\s+/).filter(Boolean).length)).map((i) => [i, i]);
}

function contextual(tokens, i) {
  const own = dice(tokens[i].toLowerCase());
  const vector = range(32).map(() => own() - 0.5);
  tokens.forEach((token, j) => {
    if (Math.abs(i - j) > 5 || token.startsWith("[")) return;
    const other = dice(token.toLowerCase());
    vector.forEach((_, d) => (vector[d] += ((other() - 0.5) * 0.45) / (1 + Math.abs(i - j) * 0.4)));
  });
  return vector;
}

/** Each hop finds another sentence with words of the question and of the sentences found so far. The answer is the first
 * place in what was found. The model sees twelve sentences. */
function recall(model, story, question, top) {
  const wordsOf = (text) => text.toLowerCase().match(/[a-z]+/g) ?? [];
  const known = new Set(
    "mary john sandra went took the milk to garden kitchen office hallway where is there".split(" "),
  );
  const unseen = Math.max(0, story.length - 12);
  const seen = story.slice(unseen);
  const hops = [];
  const found = [];
  for (let k = 0; k < 3; ++k) {
    const sought = [question, ...found].flatMap(wordsOf);
    const weights = softmax(
      seen.map((sentence, i) => {
        const shared = wordsOf(sentence).filter((word) => word.length > 3 && sought.includes(word)).length;
        return 4 * shared + 0.3 * i - 6 * found.filter((other) => other === sentence).length;
      }),
    );
    hops.push([...Array(unseen).fill(0), ...weights]);
    found.push(seen[weights.indexOf(Math.max(...weights))]);
  }
  const place = found.flatMap(wordsOf).find((word) => model.answers.includes(word));
  const names = [...new Set([place ?? model.answers[0], ...model.answers])].slice(0, top);
  const answers = names.map((answer, i) => ({ answer, prob: i ? 0.08 / i : 0.8 }));
  const unknown = [question, ...seen].flatMap(wordsOf).filter((word) => !known.has(word)).length;
  return {
    question,
    ...answers[0],
    hops: model.hops ? hops : [],
    answers,
    ...(unseen && { truncated: unseen }),
    ...(unknown && { unknown }),
  };
}

// Attention: heads with habits, so that there is something to see.

function attention({ model: id, input, pair, target, max_tokens, layers, heads, top_k }) {
  const model = modelOf(id);
  const common = { model: id, kind: model.kind, text: input };
  if (model.hops) {
    const sentences = input.match(/[^.?]+[.?]/g).map((sentence) => sentence.trim());
    const question = sentences.pop();
    const labels = (tokens) => ({ tokens, words: range(tokens.length) });
    const { hops, answer } = recall(model, sentences, question, 1);
    const hopNames = labels(hops.map((_, k) => `hop ${k + 1}`));
    const weights = view(model, "memory", hopNames, labels(sentences), false);
    weights.layers = [{ layer: 0, heads: [{ head: 0, weights: hops }] }];
    return { ...common, text: `${question} ${answer}`, views: [weights] };
  }
  if (model.capabilities.includes("translate")) {
    const translated = target ?? translation(input);
    const source = spaced(input, "marian");
    const said = spaced(translated, "marian");
    const pairs = aligned(input, translated);
    return {
      ...common,
      translation: translated,
      alignments: pairs,
      views: [
        view(model, "encoder", source, source, false, layers, heads, top_k),
        view(model, "decoder", said, said, true, layers, heads, top_k),
        view(model, "cross", said, source, false, layers, heads, top_k, pairs),
      ],
    };
  }
  let text = tokenize(model.kind, input);
  if (pair) {
    const second = tokenize(model.kind, pair);
    text = {
      tokens: [...text.tokens, ...second.tokens.slice(1)],
      words: [...text.words, ...second.words.slice(1).map((w) => (w < 0 ? w : w + 1000))],
    };
  }
  if (model.kind === "gpt2" && max_tokens) {
    const more = range(max_tokens).map((i) => [" and", " then", " the", " king"][i % 4]);
    text = { tokens: [...text.tokens, ...more], words: [...text.words, ...more.map((_, i) => 5000 + i)] };
  }
  const dropped = Math.max(0, text.tokens.length - model.context);
  if (dropped) {
    text.tokens.splice(model.context - 1, dropped);
    text.words.splice(model.context - 1, dropped);
  }
  return {
    ...common,
    ...(dropped && { truncated: dropped }),
    views: [view(model, "self", text, text, model.kind === "gpt2", layers, heads, top_k)],
  };
}

function view(model, name, queries, keys, causal, layers, heads, top, pairs) {
  return {
    name,
    causal,
    same_tokens: queries === keys,
    query_tokens: queries.tokens,
    key_tokens: keys.tokens,
    query_words: queries.words,
    key_words: keys.words,
    layers: (layers ?? range(model.layers)).map((layer) => ({
      layer,
      heads: (heads ?? range(model.heads)).map((head) => {
        const weights = queries.tokens.map((_, q) => row(q, queries, keys, causal, layer, head, pairs));
        if (!top) return { head, weights: weights.map((each) => Array.from(each, (w) => +w.toFixed(5))) };
        return { head, rows: weights.map((each) => greatest(each, top)) };
      }),
    })),
  };
}

const kNoise = Float32Array.from(
  { length: 4096 },
  (
    (random) => () =>
      random() * 1.6
  )(dice("noise")),
);

function row(q, queries, keys, causal, layer, head, pairs) {
  const n = causal ? q + 1 : keys.tokens.length;
  const habit = (layer * 5 + head * 3) % 7;
  const spread = 1 + ((layer * 7 + head * 11) % 9);
  const token = queries.tokens[q];
  const weights = new Float32Array(keys.tokens.length);
  let noise = (layer * 131 + head * 17 + token.charCodeAt(0) * 7 + token.length * 29) % 4096;
  let sum = 0;
  for (let k = 0; k < n; ++k) {
    noise = (noise + 613) & 4095;
    let score = kNoise[noise];
    if (pairs) score += pairs.some(([s, t]) => s === keys.words[k] && t === queries.words[q]) ? 2.2 + layer : 0;
    else if (habit === 0) score -= ((q - 1 - k) * (q - 1 - k)) / spread;
    else if (habit === 1) score -= ((q + 1 - k) * (q + 1 - k)) / spread;
    else if (habit === 2) score += k === 0 ? 4 : -Math.abs(q - k) / 6;
    else if (habit === 3) score -= Math.abs(q - k) / spread;
    else if (habit === 4) score += keys.tokens[k] === token ? 4 : 0;
    else if (habit === 5) score += keys.words[k] < 0 ? 4 : 0;
    if (score < -20) continue;
    weights[k] = Math.exp(score);
    sum += weights[k];
  }
  for (let k = 0; k < n; ++k) weights[k] /= sum;
  return weights;
}

function greatest(weights, count) {
  const best = [];
  for (let k = 0; k < weights.length; ++k) {
    const weight = weights[k];
    if (weight === 0 || (best.length === count && weight <= best[count - 1][1])) continue;
    if (best.length === count) best.pop();
    let at = best.length;
    while (at > 0 && best[at - 1][1] < weight) --at;
    best.splice(at, 0, [k, weight]);
  }
  for (const entry of best) entry[1] = Math.round(entry[1] * 1e5) / 1e5;
  return best;
}

const range = (n) => Array.from({ length: n }, (_, i) => i);

function softmax(scores) {
  let most = -Infinity;
  for (const score of scores) if (score > most) most = score;
  let sum = 0;
  const exp = scores.map((score) => {
    const value = Math.exp(score - most);
    sum += value;
    return value;
  });
  return exp.map((value) => value / sum);
}

/** Random numbers that follow from a text. */
function dice(text) {
  let state = 2166136261;
  for (const char of text) state = Math.imul(state ^ char.codePointAt(0), 16777619);
  return () => {
    state = Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9;
    return ((state ^ (state >>> 13)) >>> 0) / 4294967296;
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const mock = await startMock({ port: Number(process.argv[2] ?? 8090) });
  console.log(`A mock of attend serve: ${mock.url}`);
}
