// Rows sorted into square cells of the map, to find those near a place or within a shape.

const ROWS_PER_CELL = 3;
const MOST_CELLS = 1 << 20;

/** Rows of `rows` (those with a place) by cells. x, y: places of all rows. */
export function createGrid(x, y, rows) {
  const [left, bottom, right, top] = boxOf(x, y, rows);
  const width = Math.max(right - left, 1e-9);
  const height = Math.max(top - bottom, 1e-9);
  const wanted = Math.min(Math.max(rows.length / ROWS_PER_CELL, 1), MOST_CELLS);
  const side = Math.max(Math.sqrt((width * height) / wanted), Math.max(width, height) / 4096);
  const across = Math.floor(width / side) + 1;
  const upwards = Math.floor(height / side) + 1;
  const cellOf = (i) => Math.floor((y[i] - bottom) / side) * across + Math.floor((x[i] - left) / side);
  const starts = new Uint32Array(across * upwards + 1);
  for (const i of rows) starts[cellOf(i) + 1]++;
  for (let c = 0; c < across * upwards; c++) starts[c + 1] += starts[c];
  const next = starts.slice(0, -1);
  const sorted = new Uint32Array(rows.length);
  for (const i of rows) sorted[next[cellOf(i)]++] = i;
  return { x, y, left, bottom, side, across, upwards, starts, sorted };
}

/** The smallest box around rows, or around the origin where there are none. */
export function boxOf(x, y, rows) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const i of rows) {
    if (x[i] < box[0]) box[0] = x[i];
    if (y[i] < box[1]) box[1] = y[i];
    if (x[i] > box[2]) box[2] = x[i];
    if (y[i] > box[3]) box[3] = y[i];
  }
  return box[0] <= box[2] ? box : [-1, -1, 1, 1];
}

/** Call `visit` with each row within a box [left, bottom, right, top]. */
export function visitBox(grid, [left, bottom, right, top], visit) {
  const { x, y, side, across, upwards, starts, sorted } = grid;
  const first = Math.max(Math.floor((left - grid.left) / side), 0);
  const last = Math.min(Math.floor((right - grid.left) / side), across - 1);
  const lowest = Math.max(Math.floor((bottom - grid.bottom) / side), 0);
  const highest = Math.min(Math.floor((top - grid.bottom) / side), upwards - 1);
  if (first > last) return;
  for (let line = lowest; line <= highest; line++) {
    const end = starts[line * across + last + 1];
    for (let k = starts[line * across + first]; k < end; k++) {
      const i = sorted[k];
      if (x[i] >= left && x[i] <= right && y[i] >= bottom && y[i] <= top) visit(i);
    }
  }
}

/** The nearest row within a radius for which `accept` holds, or −1. */
export function nearestRow(grid, atX, atY, radius, accept = () => true) {
  let nearest = -1;
  let least = radius * radius;
  visitBox(grid, [atX - radius, atY - radius, atX + radius, atY + radius], (i) => {
    const distance = (grid.x[i] - atX) ** 2 + (grid.y[i] - atY) ** 2;
    if (distance <= least && accept(i)) {
      least = distance;
      nearest = i;
    }
  });
  return nearest;
}

/** Rows within a polygon [x0, y0, x1, y1, …], by the even-odd rule, in the order of their numbers. */
export function rowsInPolygon(grid, polygon) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (let k = 0; k < polygon.length; k += 2) {
    box[0] = Math.min(box[0], polygon[k]);
    box[1] = Math.min(box[1], polygon[k + 1]);
    box[2] = Math.max(box[2], polygon[k]);
    box[3] = Math.max(box[3], polygon[k + 1]);
  }
  const found = [];
  visitBox(grid, box, (i) => {
    if (isInside(grid.x[i], grid.y[i], polygon)) found.push(i);
  });
  return Uint32Array.from(found).sort();
}

export function rowsInBox(grid, box) {
  const found = [];
  visitBox(grid, box, (i) => found.push(i));
  return Uint32Array.from(found).sort();
}

/** Whether a line from the place to the right crosses the polygon an odd number of times. */
export function isInside(x, y, polygon) {
  let inside = false;
  let fromX = polygon.at(-2);
  let fromY = polygon.at(-1);
  for (let k = 0; k < polygon.length; k += 2) {
    const toX = polygon[k];
    const toY = polygon[k + 1];
    if (fromY > y !== toY > y && x < fromX + ((y - fromY) * (toX - fromX)) / (toY - fromY)) inside = !inside;
    fromX = toX;
    fromY = toY;
  }
  return inside;
}
