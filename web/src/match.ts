// Which token of a finished text is which of those that were written: the server cut the whole text into tokens anew.

export interface Match {
  /** Of each written token, the place in the whole text where the model stood when it chose it; −1 where unknown. */
  query: number[];
  /** Of each token of the whole text, which of the written ones it is; −1 in the prompt. */
  written: number[];
}

export function match(whole: string[], prompt: string, written: string[]): Match {
  const start = whole.length - written.length;
  const same = start >= 0 && written.every((token, i) => whole[start + i].trim() === token.trim());
  if (same)
    return { query: written.map((_, i) => start + i - 1), written: whole.map((_, i) => Math.max(-1, i - start)) };
  // Cut otherwise than it was written: what comes at the same place of the text, white space apart, is the same.
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

/** Of each token, how many characters other than white space come before it. */
function places(tokens: string[]): number[] {
  let sum = 0;
  return tokens.map((token) => {
    const place = sum;
    sum += token.replace(/\s/g, "").length;
    return place;
  });
}
