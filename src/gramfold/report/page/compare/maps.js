// The maps of a comparison: the same rows on each, with places of their own.

import { readRows } from "../app/rows.js";
import { numbersOf } from "../shared/unpack.js";

/** What is shared by all maps, and the maps: {name, axes, coordinates, placed, kept}. */
export function readMaps(manifest, blocks) {
  const rows = readRows(manifest, blocks);
  const maps = manifest.maps.map((described, number) => {
    const coordinates = described.coordinates.map((ref) => numbersOf(ref, blocks));
    return {
      number,
      name: described.name,
      axes: described.axes,
      firstAxes: described.axes.length > 1 ? [0, 1] : [0],
      coordinates,
      count: rows.count,
      placed: rowsWithPlaces(coordinates, rows.count),
      kept: described.kept ? { kind: "number", name: "neighbours kept", ref: described.kept } : null,
    };
  });
  rows.neighbors = manifest.neighbors;
  rows.placed = Uint32Array.from({ length: rows.count }, (_, i) => i); // those that the legend counts
  return { rows, maps };
}

function rowsWithPlaces(coordinates, count) {
  const found = new Uint32Array(count);
  let held = 0;
  for (let i = 0; i < count; i++) if (coordinates.every((values) => Number.isFinite(values[i]))) found[held++] = i;
  return found.slice(0, held);
}

/** The column that each map has of its own, one map after the other, so that all have one scale of colours. */
export function keptColumn(maps, blocks) {
  if (!maps.length || maps.some((map) => !map.kept)) return null;
  const count = maps[0].count;
  let values = null;
  return {
    name: "neighbours kept",
    kind: "number",
    unit: "",
    get values() {
      if (values) return values;
      values = new Float32Array(count * maps.length);
      for (const map of maps) values.set(numbersOf(map.kept.ref, blocks), map.number * count);
      return values;
    },
  };
}
