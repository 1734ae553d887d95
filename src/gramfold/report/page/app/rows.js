// The rows of the map, as typed arrays, from the manifest and its blocks.

import { columnOf, numbersOf, storedIn } from "../shared/unpack.js";

/** All that is known of the rows. Rows are counted from 0 among those in the page; `numberOf` is their number in the table. */
export function readRows(manifest, blocks) {
  const [map] = manifest.maps;
  const coordinates = map.coordinates.map((ref) => numbersOf(ref, blocks));
  const count = manifest.rows.shown;
  const placed = new Uint32Array(count);
  const unplaced = [];
  let held = 0;
  for (let i = 0; i < count; i++) {
    if (coordinates.every((values) => Number.isFinite(values[i]))) placed[held++] = i;
    else unplaced.push(i);
  }
  const numbers = manifest.number ? storedIn(manifest.number, blocks) : null;
  const columns = manifest.columns.map((described) => columnOf(described, blocks));
  const ofFault = new Map(Object.entries(manifest.faults ?? {}).map(([fault, column]) => [column, fault]));
  return {
    title: manifest.title,
    method: map.name,
    total: manifest.rows.total,
    count,
    axes: map.axes,
    firstAxes: map.shown ?? [0, 1],
    coordinates,
    arrows: map.arrows ?? [],
    placed: placed.subarray(0, held),
    unplaced: Uint32Array.from(unplaced),
    columns,
    ofFault,
    label: Number.isInteger(manifest.label) ? manifest.label : -1,
    dataColumns: manifest.data_columns ?? [],
    firstColor: Number.isInteger(manifest.first_color) ? manifest.first_color : -1,
    edges: manifest.edges && {
      starts: storedIn(manifest.edges.starts, blocks),
      ends: storedIn(manifest.edges.ends, blocks),
      lengths: storedIn(manifest.edges.lengths, blocks),
      of: manifest.edges.of ?? "the neighbour graph",
    },
    pictures: manifest.pictures && { ...manifest.pictures, pixels: storedIn(manifest.pictures.pixels, blocks) },
    inverse: Boolean(manifest.inverse),
    numberOf: (i) => (numbers ? numbers[i] : i),
    rowOfNumber: (number) => (numbers ? searched(numbers, number) : number >= 0 && number < count ? number : -1),
  };
}

/** Where a number stands among ascending ones, or −1. */
function searched(numbers, number) {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < number) low = middle + 1;
    else high = middle;
  }
  return numbers[low] === number ? low : -1;
}

/** How a row is called: by its label, or by its number. */
export function nameOfRow(rows, i) {
  const label = rows.label >= 0 ? rows.columns[rows.label].text(i) : "";
  return label || `row ${rows.numberOf(i)}`;
}

/**
 * Numbers of the columns without those that were made from the map, as a reader looks for them: the label, the first
 * colour, what else the table has, and then what was mapped.
 */
export function listedColumns(rows) {
  const own = rows.columns.map((_, j) => j).filter((j) => !rows.ofFault.has(j));
  const rank = (j) => (j === rows.label ? 0 : j === rows.firstColor ? 1 : rows.dataColumns.includes(j) ? 3 : 2);
  return own.sort((a, b) => rank(a) - rank(b));
}

/** The same columns themselves. */
export const tableColumns = (rows) => listedColumns(rows).map((j) => rows.columns[j]);
