// What the pictures of attention show, and the token that is selected in all of them.
import type { Matrix } from "./matrix";

export interface Head {
  /** Its number; null for a matrix that stands for several heads or layers. */
  head: number | null;
  matrix: Matrix;
}

export interface Scene {
  /** The text that the weights are of, as a title. */
  title: string;
  queries: string[];
  keys: string[];
  /** The heads that were chosen, and their mean. */
  heads: Head[];
  mean: Matrix;
  /** Queries and keys are the same tokens. */
  same: boolean;
}

/** The selected query, key, or cell of both. */
export interface Focus {
  query: number | null;
  key: number | null;
}

export const kNowhere: Focus = { query: null, key: null };
