// The colours of what is drawn on canvas, for light and dark. Style sheets have the rest.

type Rgb = [number, number, number];

export interface Palette {
  ink: string;
  muted: string;
  line: string;
  surface: string;
  mark: string;
  /** From nothing to the greatest weight. */
  heat: Rgb[];
  /** From nothing to the least value, for matrices with signs. */
  cold: Rgb[];
}

const kLight: Palette = {
  ink: "#1c1e22",
  muted: "#646973",
  line: "#dedbd2",
  surface: "#ffffff",
  mark: "#c2410c",
  heat: [
    [255, 255, 255],
    [205, 222, 243],
    [113, 160, 216],
    [40, 92, 166],
    [10, 38, 84],
  ],
  cold: [
    [255, 255, 255],
    [247, 214, 196],
    [232, 150, 110],
    [184, 72, 38],
    [103, 26, 12],
  ],
};

const kDark: Palette = {
  ink: "#e9e7e2",
  muted: "#9a9fa9",
  line: "#33373f",
  surface: "#191c21",
  mark: "#fdba74",
  heat: [
    [25, 28, 33],
    [36, 58, 96],
    [58, 106, 176],
    [128, 178, 240],
    [234, 243, 255],
  ],
  cold: [
    [25, 28, 33],
    [84, 44, 30],
    [156, 78, 44],
    [230, 144, 96],
    [255, 236, 222],
  ],
};

export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export const palette = (): Palette => (isDark() ? kDark : kLight);

export function mix(stops: Rgb[], share: number): Rgb {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(place), stops.length - 2);
  const part = place - i;
  return [0, 1, 2].map((c) => Math.round(stops[i][c] + (stops[i + 1][c] - stops[i][c]) * part)) as Rgb;
}

export const css = ([r, g, b]: Rgb): string => `rgb(${r} ${g} ${b})`;

/** The colour of a text on a shade: whichever of ink and surface stands out more. */
export function textOn([r, g, b]: Rgb): string {
  const linear = (value: number) => (value / 255) ** 2.2;
  const luminance = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const { ink, surface } = palette();
  return luminance > 0.19 === isDark() ? surface : ink;
}

/** How strongly a weight shows. The root lifts small weights: attention is mostly small weights. */
export const strength = (weight: number, most: number): number => (most > 0 ? Math.sqrt(Math.abs(weight) / most) : 0);

/** 256 steps of a ramp as pixels of little-endian ImageData. */
export function pixels(stops: Rgb[]): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const [r, g, b] = mix(stops, i / 255);
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  });
}

/** The colour of a head: neighbours differ most, as the golden angle has it. */
export const headColour = (head: number): string =>
  `oklch(${isDark() ? "0.76 0.14" : "0.56 0.16"} ${((255 + head * 137.5) % 360).toFixed(1)})`;
