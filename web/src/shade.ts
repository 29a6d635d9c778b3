// The text itself, shaded by the attention weights of the selected token.
import type { Focus, Scene } from "./scene";
import type { Tokens } from "./tokens";

/** `queries` and `keys` show the scene's two texts; if they are the same text, only `queries` is used. */
export function shadeTokens(scene: Scene, focus: Focus, queries: Tokens, keys: Tokens): void {
  const query = focus.query !== null && focus.query < scene.queries.length ? focus.query : null;
  const key = focus.key !== null && focus.key < scene.keys.length ? focus.key : null;
  const row = new Float32Array(Math.max(scene.queries.length, scene.keys.length));
  const entries = query !== null ? scene.mean.row(query) : key !== null ? scene.mean.column(key) : [];
  for (const entry of entries) row[entry.key] = entry.weight;
  const shaded = scene.same || query === null ? queries : keys;
  const other = shaded === queries ? keys : queries;
  shaded.tint(query === null && key === null ? null : row);
  other.tint(null);
  queries.mark(query ?? (scene.same ? key : null));
  keys.mark(key);
}
