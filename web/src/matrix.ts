// Attention weights as sparse rows: what the server kept of each query, or all of it. Everything that is drawn comes
// from these.
import type { HeadData } from "./api";

export class Matrix {
  /** Row q has the entries start[q] … start[q + 1] of key and weight, by key. */
  constructor(
    readonly queries: number,
    readonly keys: number,
    readonly start: Int32Array,
    readonly key: Uint16Array,
    readonly weight: Float32Array,
  ) {}

  static of(data: HeadData, keys: number): Matrix {
    return data.rows ? Matrix.sparse(data.rows, keys) : Matrix.dense(data.weights ?? [], keys);
  }

  static sparse(rows: [number, number][][], keys: number): Matrix {
    const start = new Int32Array(rows.length + 1);
    rows.forEach((row, q) => (start[q + 1] = start[q] + row.length));
    const key = new Uint16Array(start[rows.length]);
    const weight = new Float32Array(key.length);
    let at = 0;
    for (const row of rows)
      for (const [k, w] of row.slice().sort((a, b) => a[0] - b[0])) {
        key[at] = k;
        weight[at++] = w;
      }
    return new Matrix(rows.length, keys, start, key, weight);
  }

  static dense(rows: ArrayLike<number>[], keys: number): Matrix {
    const start = new Int32Array(rows.length + 1);
    const entries: number[] = [];
    const weights: number[] = [];
    rows.forEach((row, q) => {
      for (let k = 0; k < row.length; ++k)
        if (row[k] !== 0) {
          entries.push(k);
          weights.push(row[k]);
        }
      start[q + 1] = entries.length;
    });
    return new Matrix(rows.length, keys, start, Uint16Array.from(entries), Float32Array.from(weights));
  }

  at(query: number, key: number): number {
    for (let i = this.start[query]; i < this.start[query + 1]; ++i) if (this.key[i] === key) return this.weight[i];
    return 0;
  }

  row(query: number): { key: number; weight: number }[] {
    const entries = [];
    for (let i = this.start[query]; i < this.start[query + 1]; ++i)
      entries.push({ key: this.key[i], weight: this.weight[i] });
    return entries;
  }

  /** What each query gives to one key. */
  column(key: number): { key: number; weight: number }[] {
    const entries = [];
    for (let q = 0; q < this.queries; ++q) {
      const weight = this.at(q, key);
      if (weight > 0) entries.push({ key: q, weight });
    }
    return entries;
  }

  greatest(): number {
    let most = 0;
    for (const weight of this.weight) if (weight > most) most = weight;
    return most;
  }
}

export function mean(matrices: Matrix[]): Matrix {
  if (matrices.length === 1) return matrices[0];
  const { queries, keys } = matrices[0];
  return gather(queries, keys, (add) => {
    for (const matrix of matrices)
      for (let q = 0; q < queries; ++q)
        for (let i = matrix.start[q]; i < matrix.start[q + 1]; ++i)
          add(q, matrix.key[i], matrix.weight[i] / matrices.length);
  });
}

/** Tokens that are shown as one: a word's subwords. */
export interface Group {
  label: string;
  tokens: number[];
}

/** Each token by itself, or the tokens of a word together; special tokens (word −1) are left out where asked. */
export function groups(tokens: string[], words: number[], whole: boolean, specials: boolean): Group[] {
  const found: Group[] = [];
  let last = -1;
  tokens.forEach((token, i) => {
    const word = words[i] ?? i;
    if (word < 0 && !specials) return;
    if (whole && word >= 0 && word === last) {
      const group = found[found.length - 1];
      group.tokens.push(i);
      group.label += token.replace(/^##/, "").trimStart();
    } else {
      found.push({ label: whole ? token.trim() : token, tokens: [i] });
    }
    last = word;
  });
  return found;
}

/** The weights between groups: a word looks as its tokens do on average, and is seen as much as they are together. */
export function regroup(matrix: Matrix, queries: Group[], keys: Group[]): Matrix {
  if (queries.length === matrix.queries && keys.length === matrix.keys) return matrix;
  const column = new Int32Array(matrix.keys).fill(-1);
  keys.forEach((group, k) => group.tokens.forEach((token) => (column[token] = k)));
  return gather(queries.length, keys.length, (add) =>
    queries.forEach((group, q) => {
      for (const token of group.tokens)
        for (let i = matrix.start[token]; i < matrix.start[token + 1]; ++i)
          if (column[matrix.key[i]] >= 0) add(q, column[matrix.key[i]], matrix.weight[i] / group.tokens.length);
    }),
  );
}

function gather(
  queries: number,
  keys: number,
  fill: (add: (query: number, key: number, weight: number) => void) => void,
): Matrix {
  const rows = Array.from({ length: queries }, () => new Float32Array(keys));
  fill((query, key, weight) => (rows[query][key] += weight));
  return Matrix.dense(rows, keys);
}

/** What a head does, in words: the strongest of a few habits. */
export function habit(matrix: Matrix): string {
  const { queries, keys } = matrix;
  if (queries === 0) return "nothing to see";
  const share = { itself: 0, "the token before": 0, "the token after": 0, "the first token": 0, "the last token": 0 };
  let total = 0;
  let entropy = 0;
  for (let q = 0; q < queries; ++q)
    for (let i = matrix.start[q]; i < matrix.start[q + 1]; ++i) {
      const k = matrix.key[i];
      const w = matrix.weight[i];
      total += w;
      if (w > 0) entropy -= w * Math.log2(w);
      if (queries === keys) {
        if (k === q) share["itself"] += w;
        else if (k === q - 1) share["the token before"] += w;
        else if (k === q + 1) share["the token after"] += w;
      }
      if (k === 0) share["the first token"] += w;
      else if (k === keys - 1) share["the last token"] += w;
    }
  if (total === 0) return "nothing to see";
  const [name, most] = Object.entries(share).sort((a, b) => b[1] - a[1])[0];
  const spread = `entropy ${(entropy / queries).toFixed(1)} bits`;
  return most / total >= 0.35 ? `${Math.round((100 * most) / total)} % to ${name}, ${spread}` : spread;
}

/** Cosine of two vectors; 0 where one of them is nothing. */
export function cosine(a: number[], b: number[]): number {
  let ab = 0;
  let aa = 0;
  let bb = 0;
  a.forEach((x, i) => {
    ab += x * b[i];
    aa += x * x;
    bb += b[i] * b[i];
  });
  return aa > 0 && bb > 0 ? ab / Math.sqrt(aa * bb) : 0;
}
