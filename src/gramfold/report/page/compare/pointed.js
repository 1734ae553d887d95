// The row under the pointer: a ring around it on every map, and one box of words on the map that is pointed at.

import { nameOfRow } from "../app/rows.js";
import { make } from "../shared/dom.js";
import { drawPicture } from "../shared/pictures.js";

const MOST_TOLD = 6; // columns beside the colour
const BESIDE = 14; // pixels between the row and the words

export function createPointed(store, panes) {
  const { rows } = store;
  const box = make("div", { id: "hover", role: "tooltip", hidden: true });
  let where = null; // the pane that is pointed at

  function show() {
    for (const pane of panes) pane.showPointed();
    const i = store.pointed;
    box.hidden = i < 0 || !where || !where.hasPlace(i);
    if (box.hidden) return;
    where.element.append(box);
    box.replaceChildren(...wordsOf(i));
    const [x, y] = where.placeOf(i);
    const { width, height } = where.camera;
    const [wide, high] = [box.offsetWidth, box.offsetHeight];
    const left = x + BESIDE + wide <= width - 4 ? x + BESIDE : x - BESIDE - wide;
    const top = y + BESIDE + high <= height - 4 ? y + BESIDE : y - BESIDE - high;
    box.style.left = `${Math.max(4, Math.min(left, width - wide - 4))}px`;
    box.style.top = `${Math.max(4, Math.min(top, height - high - 4))}px`;
  }

  function wordsOf(i) {
    const name = nameOfRow(rows, i);
    const number = `row ${rows.numberOf(i)}`;
    const told = rows.columns.map((_, j) => j).filter((j) => j !== rows.label && j !== store.color);
    const columns = [...(store.color >= 0 && store.color !== rows.label ? [store.color] : []), ...told.slice(0, MOST_TOLD)];
    const absent = panes.filter((pane) => !pane.hasPlace(i)).map((pane) => pane.map.name);
    return [
      rows.pictures ? drawPicture(rows.pictures, i, 96) : null,
      make("p", { class: "name" }, make("bdi", {}, name), name === number ? "" : make("span", { class: "quiet" }, ` ${number}`)),
      columns.length ? make("dl", {}, columns.map((j) => lineOf(j, i))) : null,
      absent.length ? make("p", { class: "quiet" }, `no place on ${absent.join(", ")}`) : null,
    ].filter(Boolean);
  }

  function lineOf(j, i) {
    const column = rows.columns[j];
    const chip = j === store.color ? make("span", { class: "chip", style: `background:${where.colorOf(i)}` }) : "";
    const value = column.missing(i) ? make("span", { class: "quiet" }, "missing") : `${column.text(i)}${column.unit ? ` ${column.unit}` : ""}`;
    return [make("dt", {}, chip, column.name), make("dd", {}, value)];
  }

  store.on("pointed", show);
  store.on("color", show);
  store.on("camera", () => {
    if (!box.hidden) show();
  });

  return {
    point(i, pane) {
      where = pane;
      if (i === store.pointed) return;
      store.point(i);
    },
  };
}
