// What an attention page shows. It is kept in the address, so that a place can be shared.
import type { Heads } from "../heads";
import type { Layer, MapData, ViewData } from "./data";

export const kModes = ["heat", "lines", "text", "grid", "table", "alignment"] as const;
export type Mode = (typeof kModes)[number];

export class State {
  map = 0;
  view = 0;
  layer: Layer = 0;
  /** The places of the chosen heads; null: all heads. */
  heads: Heads = null;
  words = false;
  specials = true;
  mode: Mode = "heat";

  constructor(readonly maps: MapData[]) {}

  get mapData(): MapData {
    return this.maps[this.map];
  }
  get viewData(): ViewData {
    return this.mapData.views[this.view];
  }
  /** All that can be chosen as a layer. */
  get allLayers(): Layer[] {
    return [...this.viewData.layers.keys(), ...this.viewData.together];
  }

  layerName(): string {
    const { layers } = this.viewData;
    if (typeof this.layer === "number") return `layer ${layers[this.layer]}`;
    return `${this.layer === "mean" ? "mean" : "roll-out"} of ${layers.length} layers`;
  }

  /** "Cross attention, layer 3, head 5". */
  heading(): string {
    const { name, heads } = this.viewData;
    if (name === "memory") return "How much each hop attends to each sentence";
    const chosen = this.heads ? [...this.heads].sort((a, b) => a - b).map((head) => heads[head]) : null;
    let which = "";
    if (typeof this.layer === "number") {
      if (chosen) which = `, head${chosen.length > 1 ? "s" : ""} ${chosen.join(", ")}`;
      else if (heads.length > 1) which = `, mean of ${heads.length} heads`;
    }
    return `${name[0].toUpperCase()}${name.slice(1)} attention, ${this.layerName()}${which}`;
  }

  fits(mode: Mode): boolean {
    if (mode === "grid") return this.viewData.layers.length * this.viewData.heads.length > 1;
    if (mode === "table") return this.viewData.name !== "memory"; // the statistics are about tokens
    if (mode === "alignment") return (this.mapData.alignments ?? []).length > 0;
    return true;
  }

  changeView(place: number): void {
    this.view = place;
    this.layer = this.viewData.first;
    this.heads = null;
  }

  /** Another text, or another hypothesis of the same text: with the same view, layer and heads if it has them. */
  changeMap(place: number): void {
    const before = this.viewData;
    const { layer, heads } = this;
    this.map = (place + this.maps.length) % this.maps.length;
    const same = this.mapData.views.findIndex(({ name }) => name === before.name);
    this.changeView(same >= 0 ? same : this.mapData.main);
    const { layers: nowLayers, heads: nowHeads } = this.viewData;
    if (String(nowLayers) === String(before.layers) && String(nowHeads) === String(before.heads)) {
      this.layer = layer;
      this.heads = heads;
    }
  }

  turnLayer(by: number): void {
    const all = this.allLayers;
    this.layer = all[(all.indexOf(this.layer) + by + all.length) % all.length];
  }

  /** All heads, head 0, head 1, … and around. */
  turnHead(by: number): void {
    const count = this.viewData.heads.length + 1;
    const now = this.heads ? Math.min(...this.heads) : -1;
    const next = ((now + 1 + by + count) % count) - 1;
    this.heads = next < 0 ? null : new Set([next]);
  }

  readAddress(): void {
    const given = new URLSearchParams(location.hash.slice(1));
    const number = (name: string) => Number.parseInt(given.get(name) ?? "", 10);
    const map = number("text");
    this.map = map >= 0 && map < this.maps.length ? map : 0;
    const view = this.mapData.views.findIndex(({ name }) => name === given.get("view"));
    this.view = view >= 0 ? view : this.mapData.main;
    const { layers, heads, together, first, firstHead } = this.viewData;
    const layer = layers.indexOf(number("layer"));
    this.layer = together.find((name) => name === given.get("layer")) ?? (layer >= 0 ? layer : first);
    const chosen = (given.get("heads") ?? "").split(",").map((head) => heads.indexOf(Number.parseInt(head, 10)));
    const known = given.has("heads") ? chosen.filter((head) => head >= 0) : firstHead >= 0 ? [firstHead] : [];
    this.heads = known.length && known.length < heads.length ? new Set(known) : null;
    this.words = given.has("words") ? given.get("words") === "1" : this.mapData.words;
    this.specials = given.get("specials") !== "0";
    const theme = given.get("theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
    this.mode = kModes.find((mode) => mode === given.get("mode") && this.fits(mode)) ?? "heat";
  }

  writeAddress(): void {
    const { name, layers, heads } = this.viewData;
    const theme = document.documentElement.dataset["theme"];
    const parts = [
      `view=${name}`,
      `layer=${typeof this.layer === "number" ? layers[this.layer] : this.layer}`,
      `mode=${this.mode}`,
      `heads=${[...(this.heads ?? [])].map((head) => heads[head]).join(",")}`,
      `words=${this.words ? 1 : 0}`,
    ];
    if (this.map > 0) parts.unshift(`text=${this.map}`);
    if (!this.specials) parts.push("specials=0");
    if (theme) parts.push(`theme=${theme}`);
    try {
      history.replaceState(null, "", `#${parts.join("&")}`);
    } catch {
      // A page in a sandbox has no address.
    }
  }
}
