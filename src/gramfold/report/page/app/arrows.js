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

export function createArrows(stage, store) {
  const layer = makeSvg("g", { class: "arrows" });
  stage.over.append(layer);
  let arrows = []; // {x, y: of the tip, line, head, label, width}
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
    const [fromX, fromY] = [columnOfPixel(camera, 0), rowOfPixel(camera, 0)];
    const unit = pixelsPerUnit(camera);
    for (const arrow of arrows) {
      const [tipX, tipY] = [fromX + unit * arrow.x, fromY - unit * arrow.y];
      const length = Math.hypot(tipX - fromX, tipY - fromY) || 1;
      const [alongX, alongY] = [(tipX - fromX) / length, (tipY - fromY) / length];
      setAll(arrow.line, { x1: fromX, y1: fromY, x2: tipX - alongX * ARROW_HEAD, y2: tipY - alongY * ARROW_HEAD });
      const [backX, backY] = [tipX - alongX * ARROW_HEAD, tipY - alongY * ARROW_HEAD];
      const side = ARROW_HEAD * 0.45;
      arrow.head.setAttribute(
        "d",
        `M${tipX} ${tipY}L${backX - alongY * side} ${backY + alongX * side}L${backX + alongY * side} ${backY - alongX * side}Z`,
      );
      arrow.place = {
        x: tipX + alongX * (6 + (arrow.width / 2) * Math.abs(alongX)),
        y: tipY + alongY * 12,
        width: arrow.width,
      };
      arrow.label.setAttribute("transform", `translate(${arrow.place.x} ${arrow.place.y})`);
    }
  }

  const setAll = (element, values) =>
    Object.entries(values).forEach(([name, value]) => element.setAttribute(name, value));

  function choose() {
    const seen = fittingLabels(
      arrows.map((arrow) => arrow.place),
      stage.camera.width,
      stage.camera.height,
    );
    arrows.forEach((arrow, k) => arrow.label.toggleAttribute("hidden", !seen[k]));
  }

  store.on("camera", move);
  store.on("settled", choose);
  store.on("axes", rebuild);
  return {
    set(on) {
      wanted = on;
      rebuild();
      choose();
    },
  };
}
