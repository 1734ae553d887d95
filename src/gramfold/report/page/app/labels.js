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

export const labelWords = (words) => shortened(words, LONGEST_LABEL);

/** Words with a rim in the colour of the paper. */
export const labelOf = (words, attributes = {}) =>
  makeSvg("text", { class: "map-label", "text-anchor": "middle", dy: "0.32em", ...attributes }, words);

/** Which labels {x, y, width} (pixels, centres) can be seen together within a box, those that come first preferred. */
export function fittingLabels(labels, width, height, taken = []) {
  const boxes = [...taken];
  return labels.map((label) => {
    const box = [
      label.x - label.width / 2 - 3,
      label.y - LABEL_HEIGHT / 2,
      label.x + label.width / 2 + 3,
      label.y + LABEL_HEIGHT / 2,
    ];
    if (box[0] < 0 || box[1] < 0 || box[2] > width || box[3] > height) return false;
    if (boxes.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1]))
      return false;
    boxes.push(box);
    return true;
  });
}
