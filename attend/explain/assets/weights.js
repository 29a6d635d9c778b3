// The weights: a layer is decoded when it is first looked at. Bytes are 255·√weight. A layer has its heads and then,
// where there are several, their mean. With view.k = 0 it is dense, [heads][queries][keys]; otherwise each row has its
// k greatest: first all their keys, two bytes each, then all their weights.

const layersDecoded = new Map(), matrices = new Map();
/// Keeps the newest few.
function remember(cache, key, most, make) {
  let value = cache.get(key);
  if (value === undefined) value = make();
  cache.delete(key);
  cache.set(key, value);
  if (cache.size > most) cache.delete(cache.keys().next().value);
  return value;
}
function layerBytes(layer) {
  const id = `w-${state.map}-${state.view}-${layer}`;
  return remember(layersDecoded, id, 48, () => {
    const text = atob(document.getElementById(id).textContent);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
    return bytes;
  });
}
const weightOf = Float32Array.from({ length: 256 }, (_, byte) => (byte / 255) ** 2);

const headsOf = layer => isOne(layer) ? view().heads.length : 1;
/// The place in a layer's bytes where the mean of its heads is.
const meanOf = layer => headsOf(layer) > 1 ? headsOf(layer) : 0;

/// Calls take(query, key, weight) for every weight of a head that is kept.
function eachWeight(layer, head, take) {
  const { k, queries: { length: Q }, keys: { length: K } } = view();
  const bytes = layerBytes(layer), slots = headsOf(layer) > 1 ? headsOf(layer) + 1 : 1;
  if (k === 0) {
    for (let q = 0, at = head * Q * K; q < Q; ++q)
      for (let key = 0; key < K; ++key, ++at) if (bytes[at]) take(q, key, weightOf[bytes[at]]);
    return;
  }
  const weights = 2 * slots * Q * k;
  for (let q = 0, at = head * Q * k; q < Q; ++q)
    for (let i = 0; i < k; ++i, ++at)
      if (bytes[weights + at]) take(q, bytes[2 * at] | bytes[2 * at + 1] << 8, weightOf[bytes[weights + at]]);
}

/// Tokens, or words: which of them each token belongs to, how they are called, and how many tokens each has.
function sideOf(tokens, words) {
  const side = { of: [], labels: [], texts: [], sizes: [], special: [] };
  tokens.forEach((token, i) => {
    const goesOn = state.words && i > 0 && words[i] >= 0 && words[i] === words[i - 1];
    if (!goesOn) side.labels.push(""), side.texts.push(""), side.sizes.push(0), side.special.push(words[i] < 0);
    const last = side.labels.length - 1;
    side.texts[last] += goesOn ? token.replace(/^##/, "") : token;
    side.labels[last] = labelOf(side.texts[last]);
    ++side.sizes[last];
    side.of.push(last);
  });
  return side;
}
const labelOf = text => text.trim() === "" && text !== "" && !/[\n\t]/.test(text) ? "␣"
  : text.replace(/^ +/, "").replace(/\n/g, "↵").replace(/\t/g, "⇥");

let sides;  // of the view at hand: {queries, keys}
function findSides() {
  const v = view();
  sides = { queries: sideOf(v.queries, v.queryWords), keys: sideOf(v.keys, v.keyWords) };
}

/// One head as a dense matrix, by words if they are shown: what goes to a word is the sum over its tokens, what comes
/// from it their mean.
function headMatrix(layer, head) {
  const id = `${state.map}-${state.view}-${layer}-${head}-${state.words}`;
  return remember(matrices, id, 64, () => {
    const { queries, keys } = sides, K = keys.labels.length;
    const values = new Float32Array(queries.labels.length * K);
    eachWeight(layer, head, (q, k, w) => { values[queries.of[q] * K + keys.of[k]] += w / queries.sizes[queries.of[q]]; });
    return values;
  });
}
/// The heads that are chosen, by their places in a layer's bytes; of none, the mean of all.
const chosenHeads = () => isOne(state.layer) && state.heads.length > 0 ? state.heads : [meanOf(state.layer)];
/// What is chosen: one head, the mean, or the mean of some.
function chosenMatrix() {
  const heads = chosenHeads();
  if (heads.length === 1) return headMatrix(state.layer, heads[0]);
  return remember(matrices, `${state.map}-${state.view}-${state.layer}-${heads}-${state.words}`, 64, () => {
    const sum = new Float32Array(sides.queries.labels.length * sides.keys.labels.length);
    for (const head of heads) headMatrix(state.layer, head).forEach((weight, i) => { sum[i] += weight / heads.length; });
    return sum;
  });
}
/// What is drawn in full: more than the greatest weight of nine rows in ten. So one row that can only look at itself,
/// as the first of a causal model, does not leave all others pale.
function fullScale(values, columns) {
  const most = [];
  for (let at = 0; at < values.length; at += columns) most.push(greatest(values, at, at + columns));
  most.sort((a, b) => a - b);
  return most[Math.floor((most.length - 1) * 0.9)] || most[most.length - 1] || 1;
}
function greatest(values, begin = 0, end = values.length) {
  let most = 0;
  for (let i = begin; i < end; ++i) if (values[i] > most) most = values[i];
  return most;
}
