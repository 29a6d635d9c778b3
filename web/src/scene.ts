// What the linked views of attention draw together, and the token that they all point at.
import type { Matrix } from "./matrix";

export interface Head {
  head: number;
  matrix: Matrix;
}

export interface Scene {
  queries: string[];
  keys: string[];
  /** The heads that were chosen, and their mean. */
  heads: Head[];
  mean: Matrix;
  /** Both sides are one text, so that pointing at a key is pointing at a token of it. */
  same: boolean;
}

/** Where the pointer or the keyboard is: a query, a key, or a cell of both. */
export interface Focus {
  query: number | null;
  key: number | null;
}

export const kNowhere: Focus = { query: null, key: null };
