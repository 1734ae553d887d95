// Arrows from the middle of the map: the directions in which columns of the table grow, and how much of each the map shows.

import { columnOfPixel, pixelsPerUnit, rowOfPixel } from "../shared/camera.js";
import { makeSvg } from "../shared/dom.js";
import { tellShare } from "../shared/format.js";
import { fittingLabels, labelOf, labelWords, widthOfWords } from "./labels.js";
import { projectedVector } from "./projection.js";

const ARROW_LENGTH = 0.55; // of the longest, in half widths of the map
const MOST_ARROWS = 10;
const SHORTEST_ARROW = 0.08; // of the longest, below which an arrow is left out
const ARROW_HEAD = 7; // pixels
const ARROW_ROOM = 10; // pixels that stay free between heads and the border of the stage
const MIDDLE_PART = 0.25; // of the stage on each side of the part in which arrows begin
const TURNS = [0, 35, -35, 70, -70, 110, -110]; // degrees by which a name leaves the line of its arrow, ...
const NEARNESS = [0, 14, 30]; // ... and pixels by which it is further away, where there is something else

/** groupNames are placed first. */
export function createArrows(stage, store, groupNames) {
  const layer = makeSvg("g", { class: "arrows" });
  stage.over.append(layer);
  let arrows = []; // {x, y: of the tip, line, head, label, width, way: [turn, further] of the name}
  let wanted = false;

  function rebuild() {
    layer.replaceChildren();
    arrows = [];
    if (!wanted || !stage.drawn) return;
    const drawn = store.rows.arrows.map((arrow) => ({
      arrow,
      vector: projectedVector(stage.projection, arrow.values),
    }));
    drawn.sort((a, b) => Math.hypot(...b.vector) - Math.hypot(...a.vector));
    arrows = drawn
      .slice(0, MOST_ARROWS)
      .filter(({ vector }) => Math.hypot(...vector) > SHORTEST_ARROW)
      .map(({ arrow, vector }) => {
        const words = labelWords(arrow.name);
        const share = arrow.share === undefined || arrow.share === null ? "" : ` ${tellShare(arrow.share)}`;
        const label = labelOf([words, makeSvg("tspan", { class: "share" }, share)]);
        const made = {
          x: ARROW_LENGTH * vector[0],
          y: ARROW_LENGTH * vector[1],
          line: makeSvg("line"),
          head: makeSvg("path"),
          label,
        };
        layer.append(made.line, made.head, label);
        return { ...made, width: widthOfWords(words + share) };
      });
    move();
  }

  function move() {
    if (!arrows.length) return;
    const { camera } = stage;
    const { width, height } = camera;
    const within = (value, size) => Math.min(Math.max(value, MIDDLE_PART * size), (1 - MIDDLE_PART) * size);
    const [fromX, fromY] = [within(columnOfPixel(camera, 0), width), within(rowOfPixel(camera, 0), height)];
    const unit = Math.min(pixelsPerUnit(camera), ...arrows.map((arrow) => longestUnit(arrow, fromX, fromY)));
    for (const arrow of arrows) {
      const [tipX, tipY] = [fromX + unit * arrow.x, fromY - unit * arrow.y];
      const length = Math.hypot(tipX - fromX, tipY - fromY) || 1;
      const [alongX, alongY] = [(tipX - fromX) / length, (tipY - fromY) / length];
      const [backX, backY] = [tipX - alongX * ARROW_HEAD, tipY - alongY * ARROW_HEAD];
      setAll(arrow.line, { x1: fromX, y1: fromY, x2: backX, y2: backY });
      const side = ARROW_HEAD * 0.45;
      arrow.head.setAttribute(
        "d",
        `M${tipX} ${tipY}L${backX - alongY * side} ${backY + alongX * side}L${backX + alongY * side} ${backY - alongX * side}Z`,
      );
      [arrow.tipX, arrow.tipY, arrow.alongX, arrow.alongY] = [tipX, tipY, alongX, alongY];
      put(arrow);
    }
  }

  /** Pixels of one unit at which an arrow reaches the border. */
  function longestUnit({ x, y }, fromX, fromY) {
    const { width, height } = stage.camera;
    const room = (value, from, size) =>
      value > 0 ? (size - ARROW_ROOM - from) / value : value < 0 ? (from - ARROW_ROOM) / -value : Infinity;
    return Math.min(room(x, fromX, width), room(-y, fromY, height));
  }

  /** The middle of the name: beyond the tip, turned from the line and further away, and always on the stage. */
  function nameAt({ tipX, tipY, alongX, alongY, width }, turn = 0, further = 0) {
    const [cos, sin] = [Math.cos((turn * Math.PI) / 180), Math.sin((turn * Math.PI) / 180)];
    const [toX, toY] = [alongX * cos - alongY * sin, alongX * sin + alongY * cos];
    const inside = (value, half, size) => Math.min(Math.max(value, half), size - half);
    return {
      x: inside(tipX + toX * (6 + further + width / 2), width / 2 + 4, stage.camera.width),
      y: inside(tipY + toY * (12 + further), 9, stage.camera.height),
      width,
    };
  }

  function put(arrow) {
    const { x, y } = nameAt(arrow, ...(arrow.way ?? []));
    arrow.label.setAttribute("transform", `translate(${x} ${y})`);
  }

  const setAll = (element, values) =>
    Object.entries(values).forEach(([name, value]) => element.setAttribute(name, value));

  /** Where each name covers no other; where there is no such place, at its tip, so that no arrow is without a name. */
  function choose() {
    const { width, height } = stage.camera;
    const taken = [...groupNames.seen()];
    for (const arrow of arrows) {
      const ways = NEARNESS.flatMap((further) => TURNS.map((turn) => [turn, further]));
      const free = (way) => fittingLabels([nameAt(arrow, ...way)], width, height, taken)[0];
      arrow.way = ways.find(free) ?? ways[0];
      taken.push(nameAt(arrow, ...arrow.way));
      put(arrow);
    }
  }

  store.on("camera", move);
  for (const topic of ["settled", "color", "groups"]) store.on(topic, choose);
  store.on("axes", () => {
    rebuild();
    choose();
  });
  return {
    set(on) {
      wanted = on;
      rebuild();
      choose();
    },
    seen: () => arrows.map((arrow) => nameAt(arrow, ...(arrow.way ?? []))),
  };
}
