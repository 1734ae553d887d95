// What a length on the canvas is worth, and which coordinates are drawn.

import { pixelsPerUnit } from "../shared/camera.js";
import { make } from "../shared/dom.js";
import { tellNumber } from "../shared/format.js";
import { roundBelow } from "../shared/scales.js";

const LONGEST_BAR = 120; // pixels of the scale bar

export function createRulers(stage, store) {
  const bar = make("span", { class: "bar" });
  const words = make("span", {});
  const scale = make("div", { class: "scale-bar" }, bar, words);
  const across = make("div", { class: "caption across" });
  const upwards = make("div", { class: "caption upwards" });
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

  store.on("camera", measure);
  store.on("axes", name);
  return { name };
}
