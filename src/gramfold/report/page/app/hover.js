// What stands beside the pointer: the row it is on, its values, and its picture where rows are pictures.

import { make, makeSvg } from "../shared/dom.js";
import { drawPicture } from "../shared/pictures.js";
import { listedColumns } from "./rows.js";

const MOST_BESIDE = 6; // columns that are shown unless the reader chooses others
const GAP = 14; // pixels between the pointer and the words

export function createHover(stage, store) {
  const { rows } = store;
  const box = make("div", { id: "hover", role: "tooltip", hidden: true });
  const ring = makeSvg("circle", { class: "ring", r: 7, visibility: "hidden" });
  stage.over.append(ring);
  stage.element.append(box);

  const listed = listedColumns(rows).filter((j) => j !== rows.label);
  const shown = new Set(listed.slice(0, MOST_BESIDE)); // columns of the words

  function show() {
    const i = store.pointed;
    const placed = i >= 0 && Number.isFinite(stage.projection.x[i]) && stage.drawn;
    box.hidden = !placed;
    ring.setAttribute("visibility", placed ? "visible" : "hidden");
    if (!placed) return;
    box.replaceChildren(...wordsOf(i));
    place(i);
  }

  function wordsOf(i) {
    const label = rows.label >= 0 ? rows.columns[rows.label].text(i) : "";
    const number = `row ${rows.numberOf(i)}`;
    const head = make(
      "p",
      { class: "name" },
      label || number,
      label ? make("span", { class: "quiet" }, ` ${number}`) : "",
    );
    const others = rows.columns.map((_, j) => j).filter((j) => rows.ofFault.has(j));
    const first = store.color >= 0 && store.color !== rows.label ? [store.color] : [];
    const columns = [...first, ...[...listed, ...others].filter((j) => shown.has(j) && j !== store.color)];
    const list = make(
      "dl",
      {},
      columns.map((j) => [make("dt", {}, nameWithChip(j, i)), make("dd", {}, valueOf(j, i))]),
    );
    const picture = rows.pictures ? drawPicture(rows.pictures, i, 112) : null;
    return [picture, head, columns.length ? list : null].filter(Boolean);
  }

  function nameWithChip(j, i) {
    if (j !== store.color) return rows.columns[j].name;
    const color = store.coloring.colors[store.coloring.codes[i]];
    return [make("span", { class: "chip", style: `background:${color}` }), rows.columns[j].name];
  }

  const valueOf = (j, i) => {
    const column = rows.columns[j];
    return column.missing(i)
      ? make("span", { class: "quiet" }, "missing")
      : `${column.text(i)}${column.unit ? ` ${column.unit}` : ""}`;
  };

  /** Beside the row, on the side where there is room; never beyond the stage. */
  function place(i) {
    const [x, y] = stage.placeOf(i);
    ring.setAttribute("cx", x);
    ring.setAttribute("cy", y);
    const { width, height } = stage.camera;
    const [wide, high] = [box.offsetWidth, box.offsetHeight];
    const left = x + GAP + wide <= width - 4 ? x + GAP : x - GAP - wide;
    const top = y + GAP + high <= height - 4 ? y + GAP : y - GAP - high;
    box.style.left = `${Math.max(4, Math.min(left, width - wide - 4))}px`;
    box.style.top = `${Math.max(4, Math.min(top, height - high - 4))}px`;
  }

  store.on("pointed", show);
  store.on("camera", () => {
    if (store.pointed >= 0 && !box.hidden) place(store.pointed);
  });
  store.on("color", show);
  return { shown, show };
}
