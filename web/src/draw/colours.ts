// The colours of what is drawn on a canvas. Those of text and lines come from style.css.

type Rgb = [number, number, number];

export interface Palette {
  ink: string;
  muted: string;
  line: string;
  surface: string;
  accent: string;
  mark: string;
  /** From a weight of 0 to the full colour. The same colours as in SVG and PNG figures (attend/explain/colours.h). */
  heat: Rgb[];
  /** The same for negative values. */
  cold: Rgb[];
}

const kRamps: Record<"light" | "dark", Pick<Palette, "heat" | "cold">> = {
  light: {
    heat: [
      [255, 255, 255],
      [5, 48, 97],
    ],
    cold: [
      [255, 255, 255],
      [178, 24, 43],
    ],
  },
  dark: {
    heat: [
      [25, 28, 33],
      [160, 208, 255],
    ],
    cold: [
      [25, 28, 33],
      [255, 160, 130],
    ],
  },
};

export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

const kPalettes = new Map<boolean, Palette>();

/** The colours of the present theme. They are read from the style sheet once for each theme. */
export function palette(): Palette {
  const dark = isDark();
  let found = kPalettes.get(dark);
  if (found) return found;
  const probe = document.body.appendChild(document.createElement("span"));
  const read = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  found = {
    ink: read("ink"),
    muted: read("muted"),
    line: read("line"),
    surface: read("surface"),
    accent: read("accent"),
    mark: read("mark"),
    ...kRamps[dark ? "dark" : "light"],
  };
  probe.remove();
  kPalettes.set(dark, found);
  return found;
}

export function mix(stops: Rgb[], share: number): Rgb {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(place), stops.length - 2);
  const part = place - i;
  return [0, 1, 2].map((c) => Math.round(stops[i][c] + (stops[i + 1][c] - stops[i][c]) * part)) as Rgb;
}

export const css = ([r, g, b]: Rgb): string => `rgb(${r} ${g} ${b})`;

/** The colour of a text on a shade: ink or surface, whichever has more contrast. */
export function textOn([r, g, b]: Rgb): string {
  const linear = (value: number) => (value / 255) ** 2.2;
  const luminance = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const { ink, surface } = palette();
  return luminance > 0.19 === isDark() ? surface : ink;
}

/** The strength of a weight's colour, 0 to 1. The square root makes small weights visible: most of them are small. */
export const strength = (weight: number, most: number): number =>
  most > 0 ? Math.min(1, Math.sqrt(Math.abs(weight) / most)) : 0;

/** 256 steps of a ramp as pixels of little-endian ImageData. */
export function pixels(stops: Rgb[]): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const [r, g, b] = mix(stops, i / 255);
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  });
}

/** The colour of a head. Heads with neighbouring numbers are a golden angle apart, so their colours differ clearly. */
export const headColour = (head: number): string =>
  `oklch(${isDark() ? "0.76 0.14" : "0.56 0.16"} ${((255 + head * 137.5) % 360).toFixed(1)})`;
