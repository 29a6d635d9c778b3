// The server's endpoints as typed functions. Errors become an ApiError with the server's message.

export type Capability =
  | "generate"
  | "chat"
  | "translate"
  | "summarize"
  | "embed"
  | "classify"
  | "fill-mask"
  | "answer"
  | "attention"
  | "pairs"
  | "tokenize";

export interface Model {
  id: string;
  kind: string;
  capabilities: Capability[];
  layers: number;
  heads: number;
  context: number | null;
  source_language?: string | null;
  target_language?: string | null;
  /** Of a multilingual translator: the codes of its languages. */
  languages?: string[];
  /** Of a model that answers questions about stories: its hops (0: not a memory network), and all its answers. */
  hops?: number;
  answers?: string[];
}

/** A head's weights: whole rows, or the greatest weights of each row as [key, weight] pairs. */
export interface HeadData {
  head: number;
  weights?: number[][];
  rows?: [number, number][][];
}

export interface ViewData {
  name: "self" | "encoder" | "decoder" | "cross" | "memory" | "context-to-question" | "question-to-context";
  causal: boolean;
  /** Queries and keys are the same tokens. */
  same_tokens: boolean;
  query_tokens: string[];
  key_tokens: string[];
  query_words: number[];
  key_words: number[];
  layers: { layer: number; heads: HeadData[] }[];
}

export interface AttentionData {
  model: string;
  kind: string;
  text: string;
  truncated?: number;
  views: ViewData[];
  translation?: string;
  alignments?: [number, number][];
  generated?: number;
}

export interface AttentionRequest {
  model: string;
  input: string;
  pair?: string;
  target?: string;
  source_lang?: string;
  target_lang?: string;
  max_tokens?: number;
  beam?: number;
  layers?: number[];
  heads?: number[];
  top_k?: number;
  /** What the server does with a text that is longer than the model's context. */
  long?: "error" | "truncate";
}

export interface StoryAnswer {
  question: string;
  answer: string;
  prob: number;
  /** [hop][sentence] weights; empty unless the model is a memory network. */
  hops: number[][];
  /** The most probable answers. */
  answers: { answer: string; prob: number }[];
  /** First sentences that the model does not see. */
  truncated?: number;
  /** Words that the model does not know. */
  unknown?: number;
}

export interface Positions {
  width: number;
  length: number;
  values: number[][];
}

export interface Pooling {
  x: number[];
  y: number[];
  truth: number[];
  query: number[];
  fit: number[];
  average: number[] | number;
  weights: number[][];
}

export interface CompletionRequest {
  model: string;
  prompt: string;
  max_tokens: number;
  temperature: number;
  top_p: number;
  top_k?: number;
  seed?: number;
  logprobs: number;
}

/** A generated token with its log-probability, and the most likely tokens at its place. */
export interface WrittenToken {
  text: string;
  logprob: number | null;
  alternatives: { text: string; logprob: number }[];
}

export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code = "",
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }
}

/** The stream ended before the server reported the end. */
export class CutShort extends Error {}

// The key is kept until the tab is closed; nothing is written to disk.
const kKey = "attend.key";
export const apiKey = {
  get: (): string => sessionStorage.getItem(kKey) ?? "",
  set: (key: string): void => (key ? sessionStorage.setItem(kKey, key) : sessionStorage.removeItem(kKey)),
};

async function send(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = {};
  if (apiKey.get()) headers["Authorization"] = `Bearer ${apiKey.get()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError("The server does not answer. Is it still running?", 0, "unreachable");
  }
  if (!response.ok) throw await errorOf(response);
  return response;
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  let message = text.trim().slice(0, 300);
  let code = "";
  try {
    // OpenAI's endpoints answer with an object, LibreTranslate's with a string.
    const { error, code: outer } = JSON.parse(text);
    message = typeof error === "string" ? error : error.message;
    code = String((typeof error === "string" ? outer : error.code) ?? "");
  } catch {
    // Not JSON, perhaps the page of a proxy: its text is shown as it is.
  }
  const wait = Number.parseFloat(response.headers.get("Retry-After") ?? "");
  const error = new ApiError(
    message || `The server answered ${response.status} ${response.statusText}`,
    response.status,
    code,
    Number.isFinite(wait) ? wait : null,
  );
  if (response.status === 401) document.dispatchEvent(new CustomEvent("unauthorized", { detail: error }));
  return error;
}

async function json<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await send(path, body, signal);
  try {
    return (await response.json()) as T;
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError("The server’s answer was cut short or is not JSON.", response.status, "invalid_answer");
  }
}

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";

export const models = async (): Promise<Model[]> => (await json<{ data: Model[] }>("v1/models")).data;

export const attention = (request: AttentionRequest, signal?: AbortSignal): Promise<AttentionData> =>
  json("v1/attention", request, signal);

export const answer = (
  request: { model: string; story: string[]; question: string; top: number },
  signal?: AbortSignal,
): Promise<StoryAnswer> => json("v1/answer", request, signal);

export const positions = (width: number, length: number, signal?: AbortSignal): Promise<Positions> =>
  json(`v1/lessons/positions?width=${width}&length=${length}`, undefined, signal);

export const pooling = (width: number, points: number, seed: number, signal?: AbortSignal): Promise<Pooling> =>
  json(`v1/lessons/pooling?width=${width}&points=${points}&seed=${seed}`, undefined, signal);

/** The number of tokens of a text. */
export async function countTokens(model: string, input: string, signal?: AbortSignal): Promise<number> {
  const answer = await json<{ data: { tokens: string[] }[] }>("v1/tokenize", { model, input: [input] }, signal);
  return answer.data[0].tokens.length;
}

export interface Translated {
  translatedText: string;
  alternatives?: string[];
  /** Pairs of word positions: source, target. */
  alignments?: [number, number][];
  /** Of a text whose language was to be detected. */
  detectedLanguage?: { language: string; confidence: number };
}

export const translate = (
  request: {
    q: string;
    model: string;
    source: string;
    target: string;
    beam: number;
    alternatives: number;
    alignments: boolean;
  },
  signal?: AbortSignal,
): Promise<Translated> => json("translate", { ...request, format: "text" }, signal);

export interface Summarized {
  summary: string;
  finish?: "length";
  parts: number;
  truncated?: number;
  /** The sentences of the document, by code points; their weights add up to 1. */
  sentences: { start: number; end: number; weight: number }[];
}

export async function summarize(
  request: { model: string; input: string; max_tokens?: number },
  signal?: AbortSignal,
): Promise<Summarized> {
  const answer = await json<{ data: Summarized[] }>("v1/summarize", { ...request, sentences: true }, signal);
  return { ...answer.data[0], sentences: answer.data[0].sentences ?? [] };
}

interface EmbeddingData {
  data: { index: number; embedding: number[] | number[][]; tokens?: string[] }[];
}

export async function embeddings(model: string, input: string[], signal?: AbortSignal): Promise<number[][]> {
  const answer = await json<EmbeddingData>("v1/embeddings", { model, input, encoding_format: "float" }, signal);
  return answer.data.sort((a, b) => a.index - b.index).map((row) => row.embedding as number[]);
}

/** For each text, the vectors of its tokens. */
export async function tokenVectors(
  model: string,
  input: string[],
  signal?: AbortSignal,
): Promise<{ tokens: string[]; vectors: number[][] }[]> {
  const body = { model, input, encoding_format: "float", pool: "tokens" };
  const answer = await json<EmbeddingData>("v1/embeddings", body, signal);
  return answer.data
    .sort((a, b) => a.index - b.index)
    .map((row) => {
      if (!row.tokens) throw new ApiError("This server gives no vectors of single words.", 200, "not_supported");
      return { tokens: row.tokens, vectors: row.embedding as number[][] };
    });
}

interface CompletionChunk {
  error?: { message: string; code?: string };
  choices?: {
    text: string;
    finish_reason: string | null;
    logprobs?: {
      tokens: string[];
      token_logprobs: (number | null)[];
      top_logprobs: (Record<string, number> | null)[] | null;
    } | null;
  }[];
}

/** Continues a prompt token by token; returns why it ended. Throws CutShort if the stream breaks. */
export async function* complete(
  request: CompletionRequest,
  signal: AbortSignal,
): AsyncGenerator<WrittenToken, string, void> {
  const response = await send("v1/completions", { ...request, stream: true }, signal);
  let finish = "";
  for await (const data of events(response)) {
    if (data === "[DONE]") return finish || "stop";
    const chunk = JSON.parse(data) as CompletionChunk;
    if (chunk.error) throw new ApiError(chunk.error.message, response.status, chunk.error.code);
    const choice = chunk.choices?.[0];
    if (!choice) continue;
    const logprobs = choice.logprobs;
    if (logprobs?.tokens.length) {
      for (const [i, text] of logprobs.tokens.entries()) {
        const others = Object.entries(logprobs.top_logprobs?.[i] ?? {});
        yield {
          text,
          logprob: logprobs.token_logprobs[i] ?? null,
          alternatives: others.map(([text, logprob]) => ({ text, logprob })).sort((a, b) => b.logprob - a.logprob),
        };
      }
    } else if (choice.text) {
      yield { text: choice.text, logprob: null, alternatives: [] };
    }
    if (choice.finish_reason) finish = choice.finish_reason;
  }
  if (finish) return finish;
  throw new CutShort("The stream was cut short: the connection ended before the server was done.");
}

/** The data of server-sent events; chunks may be cut anywhere. */
async function* events(response: Response): AsyncGenerator<string, void, void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      const parts = rest.split(/\r?\n\r?\n/);
      rest = parts.pop()!;
      for (const part of parts) {
        const data = part
          .split(/\r?\n/)
          .filter((line) => line.startsWith("data:"))
          .map((line) => line.slice(5).replace(/^ /, ""));
        if (data.length) yield data.join("\n");
      }
    }
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new CutShort("The stream was cut short: the connection broke.");
  } finally {
    reader.cancel().catch(() => {});
  }
}
