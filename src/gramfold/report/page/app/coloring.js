// From a column to the colours of rows, and to what the legend says about them.

import { ranksOf } from "../shared/differences.js";
import { RAMP_SIZE, absentColor, categoryColor, plainColor, rampColors } from "../shared/palette.js";
import { quantileOf, shareBetween } from "../shared/scales.js";

const FAR_OUT_SHARE = 0.005; // the share of rows at each end that may be cut off
const WORTH_IT = 1.6; // a range this many times that of the others has outliers, and is cut
const LOOKED_AT = 50_000; // rows by which the ends of a ramp are found
const MOST_ROWS = [0.05, 0.95]; // the middle 90% of the rows, which ...
const FEW_COLORS = 1 / 3; // ... by rank are coloured where they have less than this of a ramp

/**
 * Colours of a column (null: one colour for all): `codes` of rows (n,) into `colors`; `groups` that can be switched off,
 * {code, name, count, color, missing}; and of a ramp: low, high, the counts of rows beyond, `kind`, and where it goes by
 * rank `ranks`, the values at equal steps along it. byRank: whether it does; null where nobody has said.
 */
export function coloringOf(column, fault, count, dark, byRank = false) {
  if (!column) return plainColoring(count, dark);
  if (column.kind === "category") return categoryColoring(column.codes, column.levels, column.none, dark);
  if (column.kind === "text") return textColoring(column, count, dark);
  const ramp = fault && fault !== "density" ? "faults" : "numbers";
  return rampColoring(column, ramp, dark, byRank ?? (ramp === "numbers" ? null : false));
}

function plainColoring(count, dark) {
  return { kind: "plain", codes: new Uint16Array(count), colors: [plainColor(dark)], groups: [], missing: 0 };
}

function categoryColoring(codes, levels, none, dark) {
  const absent = levels.length;
  const found = new Uint32Array(codes.length);
  const counts = new Uint32Array(absent + 1);
  for (let i = 0; i < codes.length; i++) {
    found[i] = codes[i] === none ? absent : codes[i];
    counts[found[i]]++;
  }
  const colors = [...levels.map((_, level) => categoryColor(level, dark)), absentColor(dark)];
  const groups = levels.map((name, code) => ({ code, name, count: counts[code], color: colors[code] }));
  return withMissing({ kind: "category", codes: found, colors, groups, absent }, counts[absent]);
}

/** A column of names that was asked for as a colour: each name is a category, the commonest first. */
function textColoring(column, count, dark) {
  const numbers = new Map();
  const own = new Uint32Array(count);
  const counts = [];
  for (let i = 0; i < count; i++) {
    const name = column.at(i);
    if (!numbers.has(name)) {
      numbers.set(name, numbers.size);
      counts.push(0);
    }
    own[i] = numbers.get(name);
    counts[own[i]]++;
  }
  const names = [...numbers.keys()];
  const order = names
    .map((_, k) => k)
    .filter((k) => names[k] !== "")
    .sort((a, b) => counts[b] - counts[a] || a - b);
  const codes = new Uint32Array(names.length).fill(0xffffffff);
  order.forEach((k, code) => (codes[k] = code));
  return categoryColoring(
    own.map((k) => codes[k]),
    order.map((k) => names[k]),
    0xffffffff,
    dark,
  );
}

function rampColoring(column, ramp, dark, asked) {
  const { values } = column;
  const range = rangeOf(values);
  const byRank = (asked ?? range.isNarrow) && range.high > range.low;
  const codes = new Uint16Array(values.length);
  const steps = byRank ? rankSteps(column) : null;
  const wide = range.high > range.low;
  let missing = 0;
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i])) {
      codes[i] = RAMP_SIZE;
      missing++;
    } else if (steps) codes[i] = steps.codeOf(i);
    else if (wide) codes[i] = Math.min(Math.max(Math.round(shareBetween(values[i], range.low, range.high) * (RAMP_SIZE - 1)), 0), RAMP_SIZE - 1);
    else codes[i] = RAMP_SIZE >> 1;
  }
  const colors = [...rampColors(ramp, dark), absentColor(dark)];
  const made = {
    kind: column.kind === "date" ? "date" : "number",
    codes,
    colors,
    groups: [],
    absent: RAMP_SIZE,
    ...range,
  };
  if (steps) Object.assign(made, { ranks: steps.ranks, below: 0, above: 0 });
  return withMissing(made, missing);
}

/** Colours by the share of rows below; equal values have the middle of theirs. */
function rankSteps(column) {
  const { distinct, codes, unknown } = ranksOf(column);
  const counts = new Float64Array(unknown + 1);
  for (const code of codes) counts[code]++;
  const middles = new Float64Array(unknown);
  let passed = 0;
  for (let k = 0; k < unknown; k++) {
    middles[k] = passed + counts[k] / 2;
    passed += counts[k];
  }
  const [first, last] = [middles[0], middles[unknown - 1]];
  const places = middles.map((middle) => (middle - first) / (last - first || 1));
  const infinite = (value) => (value > 0 ? RAMP_SIZE - 1 : 0);
  return {
    codeOf: (i) =>
      codes[i] === unknown ? infinite(column.values[i]) : Math.round(places[codes[i]] * (RAMP_SIZE - 1)),
    ranks: [0, 0.25, 0.5, 0.75, 1].map((share) => distinct[Math.max(places.findLastIndex((one) => one <= share), 0)]),
  };
}

function withMissing(coloring, count) {
  coloring.missing = count;
  const { absent } = coloring;
  if (count)
    coloring.groups.push({ code: absent, name: "missing", count, color: coloring.colors[absent], missing: true });
  return coloring;
}

/** The ends of a ramp: the least and largest value, unless a few rows far out would take the colours of all others. */
function rangeOf(values) {
  const step = Math.max(1, Math.floor(values.length / LOOKED_AT));
  const known = [];
  let [least, largest] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) continue;
    if (values[i] < least) least = values[i];
    if (values[i] > largest) largest = values[i];
    if (i % step === 0) known.push(values[i]);
  }
  if (least > largest) return { low: 0, high: 1, below: 0, above: 0, empty: true };
  const sorted = Float64Array.from(known).sort();
  const [low, high] = [quantileOf(sorted, FAR_OUT_SHARE), quantileOf(sorted, 1 - FAR_OUT_SHARE)];
  const cut = high > low && largest / 2 - least / 2 > WORTH_IT * (high / 2 - low / 2);
  const range = cut ? { low, high } : { low: least, high: largest };
  range.below = cut ? counted(values, (value) => value < low) : 0;
  range.above = cut ? counted(values, (value) => value > high) : 0;
  const [from, to] = MOST_ROWS.map((share) => quantileOf(sorted, share));
  const isNarrow = to > from && to - from < FEW_COLORS * (range.high - range.low);
  return { ...range, least, largest, isNarrow };
}

function counted(values, holds) {
  let count = 0;
  for (let i = 0; i < values.length; i++) if (holds(values[i])) count++;
  return count;
}
