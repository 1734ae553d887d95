// Colours: those of gramfold.notebook.palette for categories (Okabe, Ito 2008), and ramps for numbers.
// All can be told apart with colour vision deficiencies: the first eight by hue, ramps by lightness.

export const PLAIN = "#3b6ea5";
const PLAIN_ON_DARK = "#7fb0e3";
const ABSENT = "#b8b8b8"; // a missing value
const ABSENT_ON_DARK = "#5d646c";
export const OKABE_ITO = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#F0E442"];
const WHITE_FOR_BLACK = "#f2f2f2"; // of the seventh category on dark paper
const SHADES = [
  ["#000000", 0],
  ["#000000", 0.45],
  ["#ffffff", 0.45],
]; // mixed with this, and how much of it
const DARKER_ON_DARK = 0.3; // the second of them there, where darker ones are hard to see
const GOLDEN_ANGLE = 137.50776;
// viridis, cut where it is too faint to be seen on the paper: yellow on white, purple on dark
const VIRIDIS = [
  "#440154",
  "#481a6c",
  "#472f7d",
  "#414487",
  "#39568c",
  "#31688e",
  "#2a788e",
  "#23888e",
  "#1f988b",
  "#22a884",
  "#35b779",
  "#54c568",
  "#7ad151",
  "#a5db36",
  "#d2e21b",
  "#fde725",
];
const SEEN_ON_LIGHT = [0, 0.9];
const SEEN_ON_DARK = [0.2, 1];
// from sound to faulty; the sound ones are no grey, which is for missing values
const FAULTS_ON_LIGHT = ["#e2d07c", "#ecb75a", "#ee9a4a", "#d55e00", "#7d2c00"];
const FAULTS_ON_DARK = ["#57480f", "#86601c", "#b8651a", "#f59a45", "#ffe3bd"];
export const RAMP_SIZE = 256;
const UNDER_POINTS = "#f6f7f9"; // the paper of maps
const UNDER_POINTS_ON_DARK = "#1c2025";
const PALE = 0.8; // of this in the colour of a row that is not chosen

export const plainColor = (dark) => (dark ? PLAIN_ON_DARK : PLAIN);
export const absentColor = (dark) => (dark ? ABSENT_ON_DARK : ABSENT);

/** What is left of a colour where other rows are chosen. It is opaque, or crowds of such rows would look like chosen ones. */
export const paleColor = (color, dark) => mixed(color, dark ? UNDER_POINTS_ON_DARK : UNDER_POINTS, PALE);

/** The colour of a category by its number: eight hues, darker ones, lighter ones, then hues made as they are needed. */
export function categoryColor(number, dark = false) {
  if (number >= OKABE_ITO.length * SHADES.length)
    return generatedColor(number - OKABE_ITO.length * SHADES.length, dark);
  const hue = number % OKABE_ITO.length;
  const turn = Math.floor(number / OKABE_ITO.length);
  const [towards, usual] = SHADES[turn];
  const share = dark && turn === 1 ? DARKER_ON_DARK : usual;
  const black = OKABE_ITO[hue] === "#000000";
  if (black && turn === 0) return dark ? WHITE_FOR_BLACK : OKABE_ITO[hue];
  const base = black && turn === 1 ? "#999999" : OKABE_ITO[hue]; // black has no darker shade
  return mixed(base, towards, share);
}

/** Hues around the circle by the golden angle, in three lightnesses: neighbours in number are far apart in colour. */
function generatedColor(number, dark) {
  const lightness = (dark ? [70, 55, 82] : [50, 36, 64])[number % 3];
  const saturation = [60, 75, 50][Math.floor(number / 3) % 3];
  return hslColor((number * GOLDEN_ANGLE) % 360, saturation, lightness);
}

function hslColor(hue, saturation, lightness) {
  const chroma = (saturation / 100) * Math.min(lightness / 100, 1 - lightness / 100);
  const part = (offset) => {
    const place = (offset + hue / 30) % 12;
    return lightness / 100 - chroma * Math.max(-1, Math.min(place - 3, 9 - place, 1));
  };
  return hexOf([part(0), part(8), part(4)].map((value) => value * 255));
}

/** The colours of a ramp, from low to high. */
export function rampColors(kind = "numbers", dark = false) {
  if (kind === "faults") return stretched(dark ? FAULTS_ON_DARK : FAULTS_ON_LIGHT, [0, 1]);
  return stretched(VIRIDIS, dark ? SEEN_ON_DARK : SEEN_ON_LIGHT);
}

function stretched(stops, [from, to]) {
  return Array.from({ length: RAMP_SIZE }, (_, k) => {
    const place = (from + ((to - from) * k) / (RAMP_SIZE - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    return mixed(stops[below], stops[below + 1], place - below);
  });
}

export const rgbOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

const hexOf = (rgb) => `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;

export function mixed(color, other, share) {
  const added = rgbOf(other);
  return hexOf(rgbOf(color).map((part, k) => part + (added[k] - part) * share));
}
