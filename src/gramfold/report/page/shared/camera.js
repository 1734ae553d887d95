// Where the map is seen from. A place (x, y) of the map, from about −1 to 1, stands at these pixels of the canvas:
//
//     column = width/2 + height/2 (scale x + right)        row = height/2 − height/2 (scale y + up)

const FARTHEST = 0.4; // scales, as multiples of the one at which the whole map is seen
const NEAREST = 5_000; // single precision, which the library draws with, ends there

export function createCamera() {
  const camera = { width: 1, height: 1, scale: 1, right: 0, up: 0, fitted: 1, box: [-1, -1, 1, 1] };
  return camera;
}

/** See the whole of a box of the map [left, bottom, right, top], with so many pixels around it. */
export function fitCamera(camera, box, padding = 24) {
  const [left, bottom, right, top] = box;
  const width = Math.max(camera.width - 2 * padding, camera.width / 2);
  const height = Math.max(camera.height - 2 * padding, camera.height / 2);
  const across = width / Math.max(right - left, 1e-6);
  const upwards = height / Math.max(top - bottom, 1e-6);
  camera.scale = (2 * Math.min(across, upwards)) / camera.height;
  lookAt(camera, (left + right) / 2, (bottom + top) / 2);
}

/** The whole map, and how far one may go from it. */
export function resetCamera(camera, box, padding) {
  camera.box = box;
  fitCamera(camera, box, padding);
  camera.fitted = camera.scale;
}

export function lookAt(camera, x, y) {
  camera.right = -camera.scale * x;
  camera.up = -camera.scale * y;
}

/** Pixels of one unit of the map. */
export const pixelsPerUnit = (camera) => (camera.scale * camera.height) / 2;

export const columnOfPixel = (camera, x) => camera.width / 2 + (camera.height / 2) * (camera.scale * x + camera.right);
export const rowOfPixel = (camera, y) => camera.height / 2 - (camera.height / 2) * (camera.scale * y + camera.up);
export const mapX = (camera, column) => ((2 * column - camera.width) / camera.height - camera.right) / camera.scale;
export const mapY = (camera, row) => ((camera.height - 2 * row) / camera.height - camera.up) / camera.scale;

/** The part of the map that is seen: [left, bottom, right, top]. */
export function boxInView(camera) {
  return [mapX(camera, 0), mapY(camera, camera.height), mapX(camera, camera.width), mapY(camera, 0)];
}

/** Move what is seen by so many pixels; some of the map always stays in sight. */
export function panCamera(camera, columns, rows) {
  camera.right += (2 * columns) / camera.height;
  camera.up -= (2 * rows) / camera.height;
  keepInSight(camera);
}

/** Come nearer by a factor; the place at this pixel stays where it is. */
export function zoomCamera(camera, factor, column = camera.width / 2, row = camera.height / 2) {
  const x = mapX(camera, column);
  const y = mapY(camera, row);
  camera.scale = Math.min(Math.max(camera.scale * factor, camera.fitted * FARTHEST), camera.fitted * NEAREST);
  camera.right = (2 * column - camera.width) / camera.height - camera.scale * x;
  camera.up = (camera.height - 2 * row) / camera.height - camera.scale * y;
  keepInSight(camera);
}

function keepInSight(camera) {
  const [left, bottom, right, top] = camera.box;
  const x = Math.min(Math.max(-camera.right / camera.scale, left), right);
  const y = Math.min(Math.max(-camera.up / camera.scale, bottom), top);
  lookAt(camera, x, y);
}

/** Whether the map is seen larger than as a whole. */
export const isZoomed = (camera) => camera.scale > camera.fitted * 1.001;

/** As the library wants it. */
export function viewMatrix({ scale, right, up }) {
  return new Float32Array([scale, 0, 0, 0, 0, scale, 0, 0, 0, 0, scale, 0, right, up, 0, 1]);
}

/** As SVG wants it: from places of the map to pixels. */
export function svgTransform(camera) {
  const size = pixelsPerUnit(camera);
  return `matrix(${size} 0 0 ${-size} ${columnOfPixel(camera, 0)} ${rowOfPixel(camera, 0)})`;
}
