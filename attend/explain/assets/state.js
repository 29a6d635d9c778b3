// What is shown, kept in the address so that a place can be shared.
//
// The page's script is these files in the order that CMakeLists.txt names, in one scope of their own. The page holds,
// as text:
//   #maps            JSON: for each text its views, with tokens, words, numbers of layers and heads, statistics
//   #w-M-V-L         base64: the weights of layer L (by place, or by name as in view.together) of view V of map M

const maps = JSON.parse(document.getElementById("maps").textContent);
const root = document.documentElement;

const state = { map: 0, view: 0, layer: 0, heads: [], words: false, mode: "heat", zoom: 0, query: -1, key: -1 };
const map = () => maps[state.map];
const view = () => map().views[state.view];
/// A layer is its place among the view's, or the name of one of those that stand for all together.
const isOne = layer => typeof layer === "number";
const layerName = layer => isOne(layer) ? `layer ${view().layers[layer]}`
  : { mean: `mean of ${view().layers.length} layers`, rollout: `roll-out of ${view().layers.length} layers` }[layer];

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const number = (name, most) => {
    const n = parseInt(given.get(name) ?? "", 10);
    return Number.isInteger(n) && n >= 0 && n < most ? n : undefined;
  };
  state.map = number("text", maps.length) ?? 0;
  const views = map().views;
  const named = views.findIndex(v => v.name === given.get("view"));
  state.view = named >= 0 ? named : map().main;
  const layer = view().layers.indexOf(parseInt(given.get("layer") ?? "", 10));
  state.layer = view().together.includes(given.get("layer")) ? given.get("layer") : layer >= 0 ? layer : view().first;
  const heads = (given.get("heads") ?? "").split(",").map(h => view().heads.indexOf(parseInt(h, 10)));
  state.heads = heads.filter(h => h >= 0);
  if (!given.has("heads") && view().firstHead >= 0) state.heads = [view().firstHead];
  state.words = given.has("words") ? given.get("words") === "1" : Boolean(map().words);
  if (["light", "dark"].includes(given.get("theme"))) root.dataset.theme = given.get("theme");
  state.mode = modes.some(m => m.name === given.get("mode")) ? given.get("mode") : "heat";
  if (!modes.find(m => m.name === state.mode).fits()) state.mode = "heat";
}
function writeAddress() {
  const parts = [`view=${view().name}`, `layer=${isOne(state.layer) ? view().layers[state.layer] : state.layer}`,
                 `mode=${state.mode}`];
  if (state.map > 0) parts.unshift(`text=${state.map}`);
  parts.push(`heads=${state.heads.map(h => view().heads[h]).join(",")}`);
  parts.push(`words=${state.words ? 1 : 0}`);
  if (root.dataset.theme) parts.push(`theme=${root.dataset.theme}`);
  try { history.replaceState(null, "", "#" + parts.join("&")); } catch { /* a page in a sandbox has no address */ }
}
