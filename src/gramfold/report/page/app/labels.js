// Words on the map that do not cover each other: as many as fit, the most important first.

import { makeSvg } from "../shared/dom.js";
import { shortened } from "../shared/format.js";

const LABEL_HEIGHT = 15; // pixels of a line of words
const LONGEST_LABEL = 28; // letters
let ruler = null; // measures words

export function widthOfWords(words, weight = 600) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = `${weight} 12px ${getComputedStyle(document.body).fontFamily}`;
  return ruler.measureText(words).width;
}

export const labelWords = (words, longest = LONGEST_LABEL) => shortened(words, longest);

/** Words with a rim in the colour of the paper. */
export const labelOf = (words, attributes = {}) =>
  makeSvg("text", { class: "map-label", "text-anchor": "middle", dy: "0.32em", ...attributes }, words);

const boxOfLabel = ({ x, y, width }) => [
  x - width / 2 - 3,
  y - LABEL_HEIGHT / 2,
  x + width / 2 + 3,
  y + LABEL_HEIGHT / 2,
];

/**
 * Which labels {x, y, width} (pixels, centres) can be seen together within a box, those that come first preferred.
 * taken: labels that are there already; most: how many are enough.
 */
export function fittingLabels(labels, width, height, taken = [], most = Infinity) {
  const boxes = taken.map(boxOfLabel);
  let count = 0;
  return labels.map((label) => {
    if (count >= most) return false;
    const box = boxOfLabel(label);
    if (box[0] < 0 || box[1] < 0 || box[2] > width || box[3] > height) return false;
    if (boxes.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1]))
      return false;
    boxes.push(box);
    count++;
    return true;
  });
}
