// The data of an attention page, as attend/explain/attention_page.cpp writes it into the HTML:
//   #maps      JSON: one MapData for each text or hypothesis
//   #w-M-V-L   base64: the weights of layer L of view V of map M. L is the layer's place, or "mean" or "rollout".
// A layer is decoded when it is first shown.
//
// The bytes are 255·√weight. A layer has its heads and, if there are several, their mean. With `k` = 0 the matrices
// are dense, [heads][queries][keys]. Otherwise each row has its k greatest weights: first the keys of all rows, two bytes
// each and rising in a row, then all weights.
import { Matrix } from "../matrix";
import { kMeasures, type Statistics } from "../statistics";

/** The place of a layer in a view, or all layers together. */
export type Layer = number | "mean" | "rollout";

export interface ViewData {
  name: "self" | "encoder" | "decoder" | "cross" | "memory";
  /** Queries and keys are the same tokens. */
  sameTokens: boolean;
  queries: string[];
  keys: string[];
  /** The word of each token; −1 for special tokens. */
  queryWords: number[];
  keyWords: number[];
  /** The numbers of the layers and heads. */
  layers: number[];
  heads: number[];
  k: number;
  together: ("mean" | "rollout")[];
  /** What the page opens with; −1 for all heads. */
  first: Layer;
  firstHead: number;
  /** For each head, the numbers of kMeasures. */
  statistics: (number | null)[][];
}

export interface MapData {
  text: string;
  kind: string;
  main: number;
  words: boolean;
  truncated?: number;
  translation?: string;
  alignments?: [number, number][];
  score?: number;
  generatedText?: string;
  views: ViewData[];
}

export const readMaps = (): MapData[] => JSON.parse(document.getElementById("maps")!.textContent!) as MapData[];

/** What tells a map from the others: of several hypotheses, what was generated. */
export const nameOf = ({ text, translation, generatedText }: MapData): string =>
  translation ?? (generatedText !== undefined ? `…${generatedText}` : text);

export function statisticsOf(view: ViewData, layer: number, head: number): Statistics {
  const numbers = view.statistics[layer * view.heads.length + head];
  return Object.fromEntries(kMeasures.map(({ name }, i) => [name, numbers[i]])) as unknown as Statistics;
}

/** Keeps the values that were used last. */
export class Cache<T> {
  private readonly values = new Map<string, T>();
  constructor(private readonly most: number) {}

  get(key: string, make: () => T): T {
    let value = this.values.get(key);
    if (value === undefined) value = make();
    this.values.delete(key);
    this.values.set(key, value);
    if (this.values.size > this.most) this.values.delete(this.values.keys().next().value!);
    return value;
  }
}

const kWeights = Float32Array.from({ length: 256 }, (_, byte) => (byte / 255) ** 2);
const layers = new Cache<Uint8Array>(48);

function bytesOf(id: string): Uint8Array {
  return layers.get(id, () => {
    const text = atob(document.getElementById(id)!.textContent!);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
    return bytes;
  });
}

/** One head of a layer, or with null the mean of its heads. */
export function matrixOf(view: ViewData, id: string, layer: Layer, head: number | null): Matrix {
  const heads = typeof layer === "number" ? view.heads.length : 1;
  const matrices = heads > 1 ? heads + 1 : 1;
  return decode(bytesOf(id), head ?? matrices - 1, matrices, view.queries.length, view.keys.length, view.k);
}

/** Matrix number `place` of the `matrices` in a layer's bytes. */
export function decode(
  bytes: Uint8Array,
  place: number,
  matrices: number,
  queries: number,
  keys: number,
  k: number,
): Matrix {
  const columns = k || keys;
  const from = place * queries * columns;
  const weights = k ? bytes.subarray(2 * matrices * queries * k) : bytes;
  const start = new Int32Array(queries + 1);
  for (let q = 0; q < queries; ++q) {
    let count = 0;
    for (let i = 0; i < columns; ++i) if (weights[from + q * columns + i]) ++count;
    start[q + 1] = start[q] + count;
  }
  const key = new Uint16Array(start[queries]);
  const weight = new Float32Array(key.length);
  for (let i = from, at = 0; i < from + queries * columns; ++i) {
    if (!weights[i]) continue;
    key[at] = k ? bytes[2 * i] | (bytes[2 * i + 1] << 8) : (i - from) % columns;
    weight[at++] = kWeights[weights[i]];
  }
  return new Matrix(queries, keys, start, key, weight);
}
