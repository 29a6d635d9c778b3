// Attention weights as sparse rows. All pictures are drawn from these.
import type { HeadData } from "./api";

export class Matrix {
  /** Row q has the entries start[q] … start[q + 1] of `key` and `weight`; the keys of a row rise. */
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
    rows.forEach((row, q) => {
      let count = 0;
      for (let k = 0; k < row.length; ++k) if (row[k] !== 0) ++count;
      start[q + 1] = start[q] + count;
    });
    const key = new Uint16Array(start[rows.length]);
    const weight = new Float32Array(key.length);
    let at = 0;
    for (const row of rows)
      for (let k = 0; k < row.length; ++k)
        if (row[k] !== 0) {
          key[at] = k;
          weight[at++] = row[k];
        }
    return new Matrix(rows.length, keys, start, key, weight);
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

  /** The weights of one key, by query. */
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

  /** The weight that is drawn in full colour: nine rows in ten have no greater one. The first row of a causal model
   * always has a weight of 1; by its greatest weight, all other rows would be pale. */
  fullScale(): number {
    const most = Array.from({ length: this.queries }, (_, q) => {
      let row = 0;
      for (let i = this.start[q]; i < this.start[q + 1]; ++i) if (this.weight[i] > row) row = this.weight[i];
      return row;
    }).sort((a, b) => a - b);
    return most[Math.floor((most.length - 1) * 0.9)] || most.at(-1) || 1;
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

/** Tokens that are shown as one: the tokens of a word. */
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

/** The weights between groups. The weights from a word are the mean over its tokens; those to a word are the sum. */
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

/** Cosine of two vectors; 0 if one of them is zero. */
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
