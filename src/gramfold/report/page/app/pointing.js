// What a pointer does on the map: it points at rows, chooses them, picks the ends of a path, moves and turns the map.

import { mapX, mapY } from "../shared/camera.js";
import { makeSvg, say } from "../shared/dom.js";
import { tellCounted } from "../shared/format.js";
import { listenToGestures } from "../shared/gestures.js";
import { rowsInPolygon } from "../shared/grid.js";
import { nameOfRow } from "./rows.js";
import { combined } from "./store.js";

export function listenToPointers(stage, store, path, axes) {
  const shape = makeSvg("path", { class: "shape" });
  stage.over.append(shape);
  const howOf = (event) => (event.ctrlKey || event.metaKey ? "add" : event.altKey ? "remove" : "replace");

  function choose(rows, how) {
    const all = combined(store, rows, how);
    store.choose(all);
    say(all.length ? `${tellCounted(all.length, "row")} chosen` : "No row is chosen");
  }

  const giveUp = listenToGestures(stage.element, {
    mode: () => (store.tool === "path" ? "pan" : store.tool),
    pan: (columns, lines) => stage.pan(columns, lines),
    zoom: (factor, column, line) => stage.zoom(factor, column, line),
    rotate: (columns, lines) => axes.turnBy?.(columns, lines),
    point(column, line) {
      const i = stage.rowAt(column, line);
      stage.element.classList.toggle("on-row", i >= 0);
      store.point(i);
    },
    leave(event) {
      if (event.type === "pointerleave" && event.pointerType === "touch") return; // a finger that was lifted after a tap
      store.point(-1);
    },
    click(column, line, event) {
      stage.canvas.focus({ preventScroll: true, focusVisible: false });
      const i = stage.rowAt(column, line);
      store.point(i);
      if (i < 0) return;
      if (store.tool === "path") path.pick(i);
      else if (event.pointerType === "touch") say(nameOfRow(store.rows, i));
      else choose(Uint32Array.of(i), howOf(event) === "add" && store.mask[i] ? "remove" : howOf(event));
    },
    draw(_, corners) {
      let drawn = "";
      for (let k = 0; k < corners.length; k += 2) drawn += `${k ? "L" : "M"}${corners[k]} ${corners[k + 1]}`;
      shape.setAttribute("d", `${drawn}Z`);
    },
    drawn(_, corners, event) {
      shape.setAttribute("d", "");
      const polygon = corners.map((place, k) => (k % 2 ? mapY(stage.camera, place) : mapX(stage.camera, place)));
      const how = howOf(event);
      choose(
        rowsInPolygon(stage.grid, polygon).filter((i) => store.shows(i)),
        how === "replace" ? store.how : how,
      );
    },
    cancel: () => shape.setAttribute("d", ""),
  });
  return { giveUp };
}
