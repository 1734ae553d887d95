// How chosen rows differ from the rest, as gramfold.diagnostics.differences says it: the same effects, medians, shares
// and intervals, which the docstrings there (group_differences.py, effects.py) explain.
//
//     δ = P(a > b) − P(a < b),    a among the chosen, b among the rest (Cliff's delta)

import { betaQuantile, bisected, normalDeviate } from "./statistics.js";
import { breathe } from "./dom.js";
import { shareBetween } from "./scales.js";

const FEWEST = 2; // known values of a column in each group
const MOST_CATEGORIES = 50; // of a column; the commonest are looked at
const FEWEST_SPREAD = 20; // known values in each group from which spreads are compared
const SPREAD_APART = 2; // ratio of the interquartile ranges from which they differ
const LEVEL = 0.95; // with which all intervals hold together

const ranked = new WeakMap(); // of columns: made once, when they are first compared

/**
 * Entries with name, column, effect, lower, upper, chosen, rest (medians or shares), chosenMean, restMean, known,
 * isCategory, level (number of the category), counts (of numbers), clear, and spread where it differs and the level does
 * not: {chosen: quartiles, rest: quartiles, ratio}. Clear ones first, then those of another spread, then the others; of each
 * those of the largest effect first.
 * mask: 1 for chosen rows. Gives the browser time between columns; `stillWanted` says whether to go on.
 */
export async function differencesOf(columns, mask, stillWanted = () => true) {
  const entries = [];
  let since = performance.now();
  for (const column of columns) {
    if (column.kind === "number" || column.kind === "date") entries.push(numberEntry(column, mask));
    if (column.kind === "category") entries.push(...categoryEntries(column, mask));
    if (performance.now() - since > 50) {
      await breathe();
      if (!stillWanted()) return null;
      since = performance.now();
    }
  }
  addIntervals(entries);
  for (const entry of entries) entry.spread = entry.clear || entry.isCategory ? null : otherSpreadOf(entry);
  const size = (entry) => (Number.isNaN(entry.effect) ? -1 : Math.abs(entry.effect));
  const rank = (entry) => (entry.clear ? 0 : entry.spread ? 1 : 2);
  return entries.sort((a, b) => rank(a) - rank(b) || size(b) - size(a));
}

/** The middle halves of both groups, where one is much wider than the other. */
function otherSpreadOf({ column, counts, known }) {
  if (Math.min(...known) < FEWEST_SPREAD) return null;
  const { distinct } = ranksOf(column);
  const [chosen, rest] = counts.map((group, k) =>
    [0.25, 0.75].map((share) => valueAt(group, Math.round(share * (known[k] - 1)), distinct)),
  );
  const ratio = (chosen[1] - chosen[0]) / (rest[1] - rest[0]);
  const apart = ratio > 0 && Number.isFinite(ratio) && Math.max(ratio, 1 / ratio) > SPREAD_APART;
  return apart ? { chosen, rest, ratio } : null;
}

/** The different values of a column in order, and for each row which of them it has; unknown where it has none. */
export function ranksOf(column) {
  if (ranked.has(column)) return ranked.get(column);
  const values = column.values;
  const sorted = Float64Array.from(values).sort();
  let count = 0;
  for (let k = 0; k < sorted.length && Number.isFinite(sorted[k]); k++) {
    if (sorted[k] !== sorted[count - 1] || count === 0) sorted[count++] = sorted[k];
  }
  // NaN and ∞ are sorted last, −∞ first: such columns are rare, and are read again without their infinities
  if (sorted.length && sorted[0] === -Infinity) return ranksWithoutInfinity(column);
  const distinct = sorted.slice(0, count);
  const unknown = count;
  const codes = codesOf(values, distinct, unknown);
  const made = { distinct, codes, unknown };
  ranked.set(column, made);
  return made;
}

function ranksWithoutInfinity(column) {
  const made = ranksOf({ values: Float64Array.from(column.values, (value) => (Number.isFinite(value) ? value : NaN)) });
  ranked.set(column, made);
  return made;
}

/** Where each value stands among the different ones. A table of equal steps tells roughly where, so that few are asked. */
function codesOf(values, distinct, unknown) {
  const codes = new Uint32Array(values.length).fill(unknown);
  if (!unknown) return codes;
  const lowest = distinct[0];
  const steps = Math.min(2 * unknown, 1 << 18);
  const stepOf = (value) => Math.min(Math.floor(shareBetween(value, lowest, distinct[unknown - 1]) * steps), steps - 1);
  const firsts = new Uint32Array(steps + 1).fill(unknown - 1);
  for (let k = unknown - 1; k >= 0; k--) firsts[stepOf(distinct[k])] = k;
  for (let step = steps - 1; step >= 0; step--) firsts[step] = Math.min(firsts[step], firsts[step + 1]);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (!Number.isFinite(value)) continue;
    const step = stepOf(value);
    let low = firsts[step];
    let high = firsts[step + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (distinct[middle] < value) low = middle + 1;
      else high = middle;
    }
    codes[i] = low;
  }
  return codes;
}

/** Rank columns before rows are chosen, while the reader still draws around them. */
export async function rankColumns(columns) {
  for (const column of columns) {
    if (column.kind !== "number" && column.kind !== "date") continue;
    ranksOf(column);
    await breathe();
  }
}

function numberEntry(column, mask) {
  const { distinct, codes, unknown } = ranksOf(column);
  const chosen = new Uint32Array(unknown + 1);
  const all = new Uint32Array(unknown + 1);
  for (let i = 0; i < codes.length; i++) {
    all[codes[i]]++;
    chosen[codes[i]] += mask[i];
  }
  const rest = all.map((count, k) => count - chosen[k]);
  let m = 0;
  let n = 0;
  for (let k = 0; k < unknown; k++) {
    m += chosen[k];
    n += rest[k];
  }
  const told = m >= FEWEST && n >= FEWEST;
  const { delta, variance } = told ? dominanceOf(chosen, rest, m, n, unknown) : { delta: NaN, variance: NaN };
  return {
    name: column.name,
    column,
    isCategory: false,
    effect: delta,
    variance,
    chosen: medianOf(chosen, m, distinct),
    rest: medianOf(rest, n, distinct),
    chosenMean: meanOf(chosen, m, distinct),
    restMean: meanOf(rest, n, distinct),
    known: [m, n],
    counts: [chosen, rest], // of each of the different values
  };
}

/** δ and its variance, of counts of both groups for each value in order. */
function dominanceOf(chosen, rest, m, n, count) {
  let belowChosen = 0;
  let belowRest = 0;
  let sum = 0;
  for (let k = 0; k < count; k++) {
    sum += chosen[k] * (2 * belowRest + rest[k] - n);
    belowRest += rest[k];
  }
  const delta = sum / (m * n);
  let chosenSpread = 0;
  let restSpread = 0;
  belowRest = 0;
  for (let k = 0; k < count; k++) {
    chosenSpread += chosen[k] * ((2 * belowRest + rest[k] - n) / n - delta) ** 2;
    restSpread += rest[k] * ((2 * belowChosen + chosen[k] - m) / m + delta) ** 2;
    belowRest += rest[k];
    belowChosen += chosen[k];
  }
  return { delta, variance: chosenSpread / Math.max(m - 1, 1) / m + restSpread / Math.max(n - 1, 1) / n };
}

function medianOf(counts, total, distinct) {
  if (!total) return NaN;
  const low = valueAt(counts, Math.floor((total - 1) / 2), distinct);
  return total % 2 ? low : 0.5 * (low + valueAt(counts, total / 2, distinct));
}

function valueAt(counts, place, distinct) {
  let passed = 0;
  for (let k = 0; k < distinct.length; k++) {
    passed += counts[k];
    if (passed > place) return distinct[k];
  }
  return NaN;
}

function meanOf(counts, total, distinct) {
  let sum = 0;
  for (let k = 0; k < distinct.length; k++) sum += counts[k] * distinct[k];
  return total ? sum / total : NaN;
}

/** Of each of the commonest categories that occur twice, and of one of two: the other differs by as much. */
function categoryEntries(column, mask) {
  const { codes, levels, none } = column;
  const chosen = new Float64Array(levels.length);
  const rest = new Float64Array(levels.length);
  let m = 0;
  let n = 0;
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] === none) continue;
    if (mask[i]) {
      chosen[codes[i]]++;
      m++;
    } else {
      rest[codes[i]]++;
      n++;
    }
  }
  const all = levels.map((_, level) => level).sort((a, b) => chosen[b] + rest[b] - chosen[a] - rest[a] || a - b);
  const common = all.slice(0, MOST_CATEGORIES).filter((level) => chosen[level] + rest[level] >= 2);
  return (common.length === 2 ? common.slice(0, 1) : common).map((level) => {
    const [a, b] = [m ? chosen[level] / m : NaN, n ? rest[level] / n : NaN];
    return {
      name: `${column.name} = ${levels[level]}`,
      column,
      level,
      isCategory: true,
      effect: m >= FEWEST && n >= FEWEST ? a - b : NaN,
      variance: 0,
      chosen: a,
      rest: b,
      chosenMean: a,
      restMean: b,
      known: [m, n],
    };
  });
}

/** Limits that hold for all entries together (Bonferroni's correction). */
function addIntervals(entries) {
  const judged = entries.filter((entry) => !Number.isNaN(entry.effect)).length;
  const tail = (0.5 * (1 - LEVEL)) / Math.max(judged, 1);
  const z = normalDeviate(tail);
  for (const entry of entries) {
    if (Number.isNaN(entry.effect)) [entry.lower, entry.upper] = [NaN, NaN];
    else if (entry.isCategory) [entry.lower, entry.upper] = shareLimits(entry, tail);
    else [entry.lower, entry.upper] = dominanceLimits(entry, z);
    entry.clear = entry.lower > 0 || entry.upper < 0;
  }
}

/** Newcombe's method 5, wider where the variance found in the groups is larger. */
function dominanceLimits({ effect, variance, known: [m, n] }, z) {
  const found = 0.5 * (1 + effect);
  const usual = varianceAt(found, m, n);
  const wider = Math.max(usual > 0 ? (0.25 * variance) / usual : 1, 1);
  const held = (theta) => (found - theta) ** 2 <= z * z * wider * varianceAt(theta, m, n);
  return [2 * bisected(held, found, 0) - 1, 2 * bisected(held, found, 1) - 1];
}

function varianceAt(theta, m, n) {
  const k = 0.5 * (m + n) - 1;
  const spread = 1 + (k * (1 - theta)) / (2 - theta) + (k * theta) / (1 + theta);
  return ((theta * (1 - theta)) / (m * n)) * spread;
}

/** Of a difference of shares, made of the exact limits of both (Clopper and Pearson) as Newcombe's method 10 is. */
function shareLimits({ chosen: a, rest: b, known: [m, n] }, tail) {
  const [aLow, aHigh] = exactLimits(a, m, tail);
  const [bLow, bHigh] = exactLimits(b, n, tail);
  return [a - b - Math.hypot(a - aLow, bHigh - b), a - b + Math.hypot(aHigh - a, b - bLow)];
}

function exactLimits(share, n, tail) {
  const count = Math.round(share * n);
  const low = count > 0 ? betaQuantile(count, n - count + 1, tail) : 0;
  const high = count < n ? betaQuantile(count + 1, n - count, 1 - tail) : 1;
  return [low, high];
}
