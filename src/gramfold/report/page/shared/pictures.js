// Rows that are pictures, drawn on small canvases.

import { make } from "./dom.js";

/** The picture of a row, as large as fits into a square of so many pixels; whole pixels stay sharp. */
export function drawPicture(pictures, i, side) {
  const { width, height, channels, pixels } = pictures;
  const length = width * height * channels;
  return paintPixels(pictures, pixels.subarray(i * length, (i + 1) * length), side, `picture of row ${i}`);
}

/** Any pixels of the same form. */
export function paintPixels({ width, height, channels }, pixels, side, label) {
  const canvas = make("canvas", { class: "picture", width, height, role: "img", "aria-label": label });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  for (let k = 0; k < width * height; k++) {
    for (let part = 0; part < 3; part++) image.data[4 * k + part] = pixels[k * channels + (channels === 3 ? part : 0)];
    image.data[4 * k + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  const scale = side / Math.max(width, height);
  canvas.style.width = `${Math.round(width * scale)}px`;
  canvas.style.height = `${Math.round(height * scale)}px`;
  return canvas;
}
