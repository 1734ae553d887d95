// What a length on the canvas is worth, and which coordinates are drawn.

import { pixelsPerUnit } from "../shared/camera.js";
import { make, makeSvg } from "../shared/dom.js";
import { tellNumber } from "../shared/format.js";
import { roundBelow } from "../shared/scales.js";
import { labelOf, labelWords } from "./labels.js";
import { projectedVector } from "./projection.js";

const LONGEST_BAR = 120; // pixels of the scale bar
const TRIPOD = 40; // pixels of the axes that are drawn where coordinates are turned

export function createRulers(stage, store) {
  const bar = make("span", { class: "bar" });
  const words = make("span", {});
  const scale = make("div", { class: "scale-bar" }, bar, words);
  const across = make("div", { class: "caption across" });
  const upwards = make("div", { class: "caption upwards" });
  const tripod = makeSvg("g", { class: "tripod" });
  stage.over.append(tripod);
  stage.element.append(scale, across, upwards);
  let last = 0;

  function measure() {
    const pixels = pixelsPerUnit(stage.camera) / stage.projection.half; // of one unit of the coordinates
    if (pixels === last || !(pixels > 0)) return;
    last = pixels;
    const length = roundBelow(LONGEST_BAR / pixels);
    bar.style.width = `${length * pixels}px`;
    words.textContent = tellNumber(length, 3);
  }

  function name() {
    const { projection } = stage;
    const { axes } = store.rows;
    last = 0;
    measure();
    across.hidden = upwards.hidden = projection.turning;
    across.textContent = `${axes[projection.across]} →`;
    upwards.textContent = projection.isStrip ? "spread by how many rows are near" : `${axes[projection.upwards]} →`;
  }

  /** Three lines from one point, in the directions in which the coordinates grow. */
  function turn() {
    const { projection } = stage;
    if (!projection.turning) {
      tripod.replaceChildren();
      return;
    }
    const [x, y] = [stage.camera.width - 80, stage.camera.height - 70];
    const drawn = [projection.across, projection.upwards, projection.inwards].flatMap((axis) => {
      const unit = store.rows.axes.map((_, other) => (other === axis ? 1 : 0));
      const [right, up] = projectedVector(projection, unit);
      const label = labelOf(labelWords(store.rows.axes[axis]), {
        x: x + right * (TRIPOD + 14),
        y: y - up * (TRIPOD + 14),
      });
      return [makeSvg("line", { x1: x, y1: y, x2: x + right * TRIPOD, y2: y - up * TRIPOD }), label];
    });
    tripod.replaceChildren(...drawn);
  }

  store.on("camera", measure);
  store.on("camera", turn);
  store.on("axes", name);
  return { name };
}
