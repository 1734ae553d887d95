// The names of groups, each on the map at a member where the group is dense.

import { makeSvg } from "../shared/dom.js";
import { fittingLabels, labelOf, labelWords, widthOfWords } from "./labels.js";

const ABOVE = 12; // pixels between a member and the name over it
const NAME_CELLS = 48; // of the map in each direction, in which the members of a group are counted
const MOST_NAMES = 300; // groups that are looked at
export const MOST_UNASKED = 30; // groups of one map up to which names are shown before the reader asks
const NARROW = 480; // pixels of a map below which ...
const MOST_ON_NARROW = 16; // ... so many names, ...
const LONGEST_ON_NARROW = 16; // ... of so many letters, are shown

/** mostUnasked: groups up to which names are shown before the reader asks. */
export function createNames(stage, store, mostUnasked = Infinity) {
  const layer = makeSvg("g", { class: "names" });
  stage.over.append(layer);
  let labels = []; // {element, row, width}, the largest groups first
  let wanted = null; // as the reader has said
  let longest; // letters

  const isOn = () => wanted ?? store.coloring.groups.length <= mostUnasked;
  const isNarrow = () => stage.camera.width < NARROW;
  const some = () => isOn() && stage.drawn && store.coloring.kind === "category" && store.coloring.groups.length > 1;

  function rebuild() {
    layer.replaceChildren();
    labels = [];
    longest = isNarrow() ? LONGEST_ON_NARROW : undefined;
    if (!some()) return;
    const { rows, coloring } = store;
    const groups = coloring.groups.filter((group) => !group.missing && group.name && !store.off.has(group.code));
    groups.sort((a, b) => b.count - a.count);
    const members = denseMembers(groups.slice(0, MOST_NAMES), coloring.codes, stage.projection, rows.placed);
    labels = groups.slice(0, MOST_NAMES).flatMap((group, k) => {
      if (members[k] < 0) return [];
      const words = labelWords(group.name, longest);
      return [{ element: labelOf(words), row: members[k], width: widthOfWords(words) }];
    });
    layer.append(...labels.map((label) => label.element));
    choose();
  }

  /** Which of them can be seen. */
  function choose() {
    move(true);
    const most = isNarrow() ? MOST_ON_NARROW : undefined;
    const seen = fittingLabels(labels, stage.camera.width, stage.camera.height, [], most);
    labels.forEach((label, k) => {
      label.seen = seen[k];
      label.element.toggleAttribute("hidden", !seen[k]);
    });
  }

  function move(all = false) {
    for (const label of labels) {
      if (!label.seen && !all) continue;
      [label.x, label.y] = stage.placeOf(label.row);
      label.y -= ABOVE; // the member stays in sight
      label.element.setAttribute("transform", `translate(${label.x} ${label.y})`);
    }
  }

  store.on("camera", () => move());
  store.on("settled", () => {
    if (labels.length && (longest === LONGEST_ON_NARROW) !== isNarrow()) rebuild();
    else choose();
  });
  store.on("color", rebuild);
  store.on("groups", rebuild);
  store.on("axes", rebuild);
  return {
    rebuild,
    set(on) {
      wanted = on;
      rebuild();
    },
    isOn,
    seen: () => labels.filter((label) => label.seen),
    possible: () => store.coloring.kind === "category",
  };
}

/** Of each group the member nearest to the middle of the cell in and around which the group has most members. */
export function denseMembers(groups, codes, { x, y }, placed) {
  const numbers = new Map(groups.map((group, k) => [group.code, k]));
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const i of placed) {
    box[0] = Math.min(box[0], x[i]);
    box[1] = Math.min(box[1], y[i]);
    box[2] = Math.max(box[2], x[i]);
    box[3] = Math.max(box[3], y[i]);
  }
  const cellOf = (value, low, high) =>
    Math.min(Math.floor(((value - low) / (high - low || 1)) * NAME_CELLS), NAME_CELLS - 1);
  const counts = new Uint32Array(groups.length * NAME_CELLS * NAME_CELLS);
  const cells = new Int32Array(codes.length).fill(-1);
  for (const i of placed) {
    const k = numbers.get(codes[i]);
    if (k === undefined) continue;
    cells[i] = cellOf(y[i], box[1], box[3]) * NAME_CELLS + cellOf(x[i], box[0], box[2]);
    counts[k * NAME_CELLS * NAME_CELLS + cells[i]]++;
  }
  const best = groups.map((_, k) =>
    densestCell(counts.subarray(k * NAME_CELLS * NAME_CELLS, (k + 1) * NAME_CELLS * NAME_CELLS)),
  );
  const found = new Int32Array(groups.length).fill(-1);
  const least = new Float64Array(groups.length).fill(Infinity);
  for (const i of placed) {
    const k = numbers.get(codes[i]);
    if (k === undefined || cells[i] !== best[k]) continue;
    const middleX = box[0] + (((best[k] % NAME_CELLS) + 0.5) / NAME_CELLS) * (box[2] - box[0]);
    const middleY = box[1] + ((Math.floor(best[k] / NAME_CELLS) + 0.5) / NAME_CELLS) * (box[3] - box[1]);
    const distance = (x[i] - middleX) ** 2 + (y[i] - middleY) ** 2;
    if (distance < least[k]) {
      least[k] = distance;
      found[k] = i;
    }
  }
  return found;
}

/** The cell with members that has most of them together with the eight around it. */
function densestCell(counts) {
  let best = -1;
  let most = 0;
  for (let line = 0; line < NAME_CELLS; line++) {
    for (let column = 0; column < NAME_CELLS; column++) {
      const own = counts[line * NAME_CELLS + column];
      if (!own) continue;
      let sum = own;
      for (let up = Math.max(line - 1, 0); up <= Math.min(line + 1, NAME_CELLS - 1); up++) {
        for (let on = Math.max(column - 1, 0); on <= Math.min(column + 1, NAME_CELLS - 1); on++)
          sum += counts[up * NAME_CELLS + on];
      }
      if (sum > most) [best, most] = [line * NAME_CELLS + column, sum];
    }
  }
  return best;
}
