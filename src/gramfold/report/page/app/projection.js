// From coordinates of any number to places on the canvas: two of them, one as a strip, or three turned by hand.
//
// Both directions have the same scale, so that lengths on the canvas compare as those of the map do.

import { DEPTHS } from "../shared/points.js";

const STRIP = 0.22; // half the height of a strip, whose half width is 1
const STRIP_BINS = 256; // of a strip, in which rows are counted
const FLAT = Math.floor(DEPTHS / 2);

export function createProjection(rows) {
  const projection = {
    x: new Float32Array(rows.count).fill(NaN),
    y: new Float32Array(rows.count).fill(NaN),
    depth: new Uint8Array(rows.count).fill(FLAT), // 0 far, DEPTHS − 1 near
    across: rows.firstAxes[0], // which coordinates are drawn
    upwards: rows.firstAxes[1] ?? rows.firstAxes[0],
    inwards: rows.axes.findIndex((_, axis) => !rows.firstAxes.includes(axis)),
    turning: false,
    turn: 0.5, // radians, about the upright axis, and ...
    tilt: 0.35, // ... about the level one
    isStrip: rows.coordinates.length === 1,
    center: [0, 0, 0], // what stands in the middle of the map, and ...
    half: 1, // ... what one unit of it is worth
    radius: 1, // how far from the middle rows come when they are turned
  };
  return projection;
}

/** Compute all places anew. */
export function project(projection, rows) {
  if (projection.isStrip) projectStrip(projection, rows);
  else if (projection.turning) projectTurned(projection, rows);
  else projectFlat(projection, rows);
}

function projectFlat(projection, rows) {
  const drawn = [projection.across, projection.upwards].map((axis) => rows.coordinates[axis]);
  const ranges = drawn.map((values) => middleOf(values, rows.placed));
  projection.center = [ranges[0].middle, ranges[1].middle, 0];
  projection.half = Math.max(ranges[0].half, ranges[1].half) || 1;
  for (const i of rows.placed) {
    projection.x[i] = (drawn[0][i] - projection.center[0]) / projection.half;
    projection.y[i] = (drawn[1][i] - projection.center[1]) / projection.half;
  }
  projection.depth.fill(FLAT);
}

/** About two axes, seen from far away: lengths do not shrink with depth. */
function projectTurned(projection, rows) {
  const axes = [projection.across, projection.upwards, projection.inwards];
  const drawn = axes.map((axis) => rows.coordinates[axis]);
  const ranges = drawn.map((values) => middleOf(values, rows.placed));
  projection.center = ranges.map((range) => range.middle);
  projection.half = Math.max(...ranges.map((range) => range.half)) || 1;
  const [cosTurn, sinTurn] = [Math.cos(projection.turn), Math.sin(projection.turn)];
  const [cosTilt, sinTilt] = [Math.cos(projection.tilt), Math.sin(projection.tilt)];
  const [a, b, c] = projection.center;
  const scale = 1 / projection.half;
  let farthest = 0;
  for (const i of rows.placed) {
    const across = (drawn[0][i] - a) * scale;
    const upwards = (drawn[1][i] - b) * scale;
    const inwards = (drawn[2][i] - c) * scale;
    const near = inwards * cosTurn - across * sinTurn;
    farthest = Math.max(farthest, across * across + upwards * upwards + inwards * inwards);
    projection.x[i] = across * cosTurn + inwards * sinTurn;
    projection.y[i] = upwards * cosTilt - near * sinTilt;
    const depth = near * cosTilt + upwards * sinTilt; // from about −1.7 to 1.7
    projection.depth[i] = Math.min(Math.max(Math.floor(((depth + 1.3) / 2.6) * DEPTHS), 0), DEPTHS - 1);
  }
  projection.radius = Math.sqrt(farthest) || 1;
}

/** Rows at their only coordinate; up and down they are spread as far as there are rows near them. */
function projectStrip(projection, rows) {
  const [values] = rows.coordinates;
  const { middle, half } = middleOf(values, rows.placed);
  projection.center = [middle, 0, 0];
  projection.half = half || 1;
  const counts = new Float32Array(STRIP_BINS + 2);
  const binOf = (x) => Math.min(Math.floor(((x + 1) / 2) * STRIP_BINS), STRIP_BINS - 1) + 1;
  for (const i of rows.placed) {
    projection.x[i] = (values[i] - middle) / projection.half;
    counts[binOf(projection.x[i])]++;
  }
  const smooth = counts.map((count, k) => (count * 2 + (counts[k - 1] ?? 0) + (counts[k + 1] ?? 0)) / 4);
  const most = Math.max(...smooth, 1);
  for (const i of rows.placed) {
    const room = Math.max(Math.sqrt(smooth[binOf(projection.x[i])] / most), 0.08);
    projection.y[i] = (2 * scattered(i) - 1) * STRIP * room;
  }
  projection.depth.fill(FLAT);
}

/** A number from 0 to 1 that looks random, the same for the same row in every browser. */
export function scattered(i) {
  let mixed = Math.imul(i + 0x9e3779b9, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 0x100000000;
}

function middleOf(values, among) {
  let low = Infinity;
  let high = -Infinity;
  for (const i of among) {
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  return low <= high ? { middle: low / 2 + high / 2, half: high / 2 - low / 2 } : { middle: 0, half: 1 };
}

/** The direction in which a vector of map units points on the canvas. */
export function projectedVector(projection, values) {
  if (projection.isStrip) return [values[0], 0];
  const [across, upwards, inwards] = [projection.across, projection.upwards, projection.inwards].map(
    (axis) => values[axis],
  );
  if (!projection.turning) return [across, upwards];
  const near = inwards * Math.cos(projection.turn) - across * Math.sin(projection.turn);
  return [
    across * Math.cos(projection.turn) + inwards * Math.sin(projection.turn),
    upwards * Math.cos(projection.tilt) - near * Math.sin(projection.tilt),
  ];
}

/** Rows in an order in which none is drawn over others because of where it stands in the table. */
export function shuffled(rows) {
  const order = rows.slice();
  for (let k = order.length - 1; k > 0; k--) {
    const other = Math.floor(scattered(k) * (k + 1));
    [order[k], order[other]] = [order[other], order[k]];
  }
  return order;
}
