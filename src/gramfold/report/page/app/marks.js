// Rows that are marked on the map: found by a search, pointed at in a table, or chosen where they are few.
//
// A dot of a line of no length has round ends whose size no transform changes: one path holds all marks, and follows the
// camera by one transform.

import { makeSvg } from "../shared/dom.js";

const MOST_MARKS = 2_000; // marks; more of them would hide the map
const FEW_CHOSEN = 60; // chosen rows up to which each has a mark

export function createMarks(stage, store) {
  const found = makeSvg("path", { class: "mark found" });
  const chosen = makeSvg("path", { class: "mark chosen" });
  stage.inMapUnder.append(chosen, found);

  const draw = (path, rows, most) => {
    const { x, y } = stage.projection;
    const seen =
      rows.length <= most && stage.drawn ? Array.from(rows).filter((i) => Number.isFinite(x[i]) && store.shows(i)) : [];
    path.setAttribute("d", seen.map((i) => `M${x[i]} ${y[i]}h0`).join(""));
  };
  const drawAll = () => {
    draw(found, store.marked, MOST_MARKS);
    draw(chosen, store.chosen, FEW_CHOSEN);
  };
  for (const topic of ["marked", "chosen", "groups", "axes", "color"]) store.on(topic, drawAll);
  return { drawAll };
}
