// The names of rows, as many as there is room for at the present zoom.

import { boxInView } from "../shared/camera.js";
import { makeSvg } from "../shared/dom.js";
import { visitBox } from "../shared/grid.js";
import { fittingLabels, labelOf, labelWords, widthOfWords } from "./labels.js";
import { scattered } from "./projection.js";

const FEW_ROWS = 200; // rows up to which their names are shown before the reader asks
const MOST_LOOKED_AT = 1_500; // rows in view
const MOST_ROW_NAMES = 150;
const OVER_ROW = 11; // pixels between a row and the name over it
const LONGEST_ROW_NAME = 24; // letters

/** The names of rows; null where the table has none. groupNames are placed first. */
export function createRowNames(stage, store, groupNames) {
  const { rows } = store;
  const column = rows.columns[rows.label];
  if (!column) return null;
  const layer = makeSvg("g", { class: "row-names" });
  stage.over.append(layer);
  let labels = []; // {element, row, x, y, width}
  let wanted = rows.placed.length <= FEW_ROWS;

  function rebuild() {
    layer.replaceChildren();
    labels = [];
    if (!wanted || !stage.drawn) return;
    const made = rowsInView().flatMap((row) => {
      const words = labelWords(column.text(row), LONGEST_ROW_NAME);
      return words ? [placed({ row, words, width: widthOfWords(words, 400) })] : [];
    });
    const { width, height } = stage.camera;
    const seen = fittingLabels(made, width, height, groupNames.seen(), MOST_ROW_NAMES);
    labels = made.filter((_, k) => seen[k]);
    for (const label of labels) label.element = labelOf(label.words);
    layer.append(...labels.map((label) => label.element));
    move();
  }

  /** Chosen rows first, the others in an order that looks random and stays the same. */
  function rowsInView() {
    const found = [];
    visitBox(stage.grid, boxInView(stage.camera), (i) => store.shows(i) && found.push(i));
    const rank = (i) => (store.mask[i] ? 0 : 1) + scattered(i);
    return found
      .map((i) => [rank(i), i])
      .sort(([a], [b]) => a - b)
      .slice(0, MOST_LOOKED_AT)
      .map(([, i]) => i);
  }

  function placed(label) {
    const [x, y] = stage.placeOf(label.row);
    return Object.assign(label, { x, y: y - OVER_ROW });
  }

  function move() {
    for (const label of labels) {
      placed(label);
      label.element.setAttribute("transform", `translate(${label.x} ${label.y})`);
    }
  }

  store.on("camera", move);
  for (const topic of ["settled", "color", "groups", "chosen", "axes"]) store.on(topic, rebuild);
  return {
    rebuild,
    isOn: () => wanted,
    set(on) {
      wanted = on;
      rebuild();
    },
  };
}
