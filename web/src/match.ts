// Finds the generated tokens in the whole text. The server tokenizes the whole text anew, so they may be cut
// differently.

export interface Match {
  /** For each generated token, the token of the whole text that predicted it; −1 if unknown. */
  query: number[];
  /** For each token of the whole text, its place among the generated ones; −1 in the prompt. */
  written: number[];
}

export function match(whole: string[], prompt: string, written: string[]): Match {
  const start = whole.length - written.length;
  const same = start >= 0 && written.every((token, i) => whole[start + i].trim() === token.trim());
  if (same)
    return { query: written.map((_, i) => start + i - 1), written: whole.map((_, i) => Math.max(-1, i - start)) };
  // The tokens differ: those that begin at the same character, not counting white space, are the same.
  const begins = places([prompt, ...written]).slice(1);
  const at = places(whole);
  return {
    query: begins.map((place) => {
      const found = at.findIndex((other) => other >= place);
      return (found < 0 ? whole.length : found) - 1;
    }),
    written: at.map((place) => begins.findLastIndex((begin) => begin <= place)),
  };
}

/** For each token, the number of characters before it, not counting white space. */
function places(tokens: string[]): number[] {
  let sum = 0;
  return tokens.map((token) => {
    const place = sum;
    sum += token.replace(/\s/g, "").length;
    return place;
  });
}
