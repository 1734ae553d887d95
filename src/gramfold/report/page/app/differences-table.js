// How chosen rows differ from the rest, as a list: each column with a drawing of both groups, words and its effect.

import { make, makeButton, makeSvg } from "../shared/dom.js";
import { ranksOf } from "../shared/differences.js";
import { tellCount, tellDate, tellNumber, tellShare } from "../shared/format.js";
import { quantileOf, shareBetween } from "../shared/scales.js";

const SHOWN = 8; // entries until the reader asks for all
const CROWD_WIDTH = 180; // units of the drawings
const CROWD_HEIGHT = 34;
const CROWD_BINS = 30;
const CENTRAL = [0.005, 0.995]; // the share of values that a drawing shows
const STRENGTHS = [
  [0.147, "hardly"],
  [0.33, "a little"],
  [0.474, "clearly"],
  [1, "strongly"],
]; // Romano's bounds of |δ|

export function differencesTable(entries, columns) {
  const clear = entries.filter((entry) => entry.clear).length;
  const list = make("ol", { class: "differences" }, entries.slice(0, SHOWN).map(lineOf));
  const more = makeButton(
    `Show all ${tellCount(entries.length)}`,
    () => {
      list.append(...entries.slice(SHOWN).map(lineOf));
      more.remove();
    },
    { class: "plain" },
  );
  const what = entries.some((entry) => entry.isCategory) ? "columns and categories" : "columns";
  const told =
    columns === 0
      ? "No column can be compared."
      : `${tellCount(clear)} of ${tellCount(entries.length)} ${what} differ in level beyond chance (all intervals hold together at 95%).`;
  return make(
    "div",
    {},
    make("h4", {}, "How they differ from the rest"),
    make(
      "p",
      { class: "quiet small" },
      told,
      " Rows chosen on a map of these columns differ in some of them because of the choice itself: this describes the choice, and does not prove that there are two groups.",
    ),
    make(
      "div",
      { class: "key small" },
      make("span", { class: "swatch chosen" }),
      "chosen",
      make("span", { class: "swatch rest" }),
      "the rest",
    ),
    make(
      "div",
      { class: "differences-head quiet small" },
      make(
        "span",
        {},
        entries.some((entry) => !entry.isCategory)
          ? "shift: share of pairs in which the chosen row has more, minus that in which it has less, \u22121 to +1"
          : "difference of the shares, \u22121 to +1",
      ),
    ),
    list,
    entries.length > SHOWN ? more : null,
  );
}

function lineOf(entry) {
  const told = !Number.isNaN(entry.effect);
  return make(
    "li",
    {
      class: entry.clear || entry.spread ? "" : "unclear",
      "data-name": entry.name,
      "data-effect": entry.effect,
      "data-lower": entry.lower,
      "data-upper": entry.upper,
    },
    make("span", { class: "name" }, make("bdi", {}, entry.name)),
    told ? (entry.isCategory ? sharesDrawing(entry) : crowdDrawing(entry)) : make("span", {}),
    make("span", { class: "words" }, told ? wordsOf(entry) : "fewer than two values in a group"),
    told ? effectOf(entry) : make("span", {}),
  );
}

/** "chosen: median 5.1, others 3.2"; means where the medians are the same; middle halves where only the spread differs. */
function wordsOf(entry) {
  const { column } = entry;
  if (entry.isCategory) return `chosen: ${tellShare(entry.chosen)}, others ${tellShare(entry.rest)}`;
  const tell = (value) =>
    column.kind === "date"
      ? tellDate(value, column.form)
      : `${tellNumber(value, 4)}${column.unit ? ` ${column.unit}` : ""}`;
  if (entry.spread) {
    const half = (values) => `${tell(values[0])}\u2013${tell(values[1])}`;
    const how = entry.spread.ratio < 1 ? "narrower" : "wider";
    return `${how}: chosen ${half(entry.spread.chosen)}, others ${half(entry.spread.rest)} (the middle half of each)`;
  }
  if (entry.chosen !== entry.rest) return `chosen: median ${tell(entry.chosen)}, others ${tell(entry.rest)}`;
  return `chosen: mean ${tell(entry.chosenMean)}, others ${tell(entry.restMean)}`;
}

/** The effect as a number with its interval, and as a bar from the middle. */
function effectOf(entry) {
  const { effect, lower, upper } = entry;
  const signed = (value) => `${value < 0 ? "\u2212" : "+"}${Math.abs(value).toFixed(2)}`;
  const strength = STRENGTHS.find(([bound]) => Math.abs(effect) <= bound)?.[1] ?? "strongly";
  const pairs = tellShare((1 + Math.abs(effect)) / 2);
  const title = entry.isCategory
    ? `Difference of the shares, ${signed(lower)} to ${signed(upper)}`
    : `Cliff's delta, ${signed(lower)} to ${signed(upper)}: they differ ${strength}. In about ${pairs} of pairs of a chosen row and another the ${effect >= 0 ? "chosen" : "other"} one has the larger value (ties count half).`;
  const place = (value) => 50 + 48 * value;
  const bar = makeSvg(
    "svg",
    { class: "effect", viewBox: "0 0 100 12", "aria-hidden": "true" },
    makeSvg("line", { x1: 50, x2: 50, y1: 0, y2: 12, class: "zero" }),
    makeSvg("rect", {
      x: Math.min(50, place(effect)),
      width: Math.max(Math.abs(48 * effect), 0.5),
      y: 3.5,
      height: 5,
      class: "size",
    }),
    makeSvg("line", { x1: place(lower), x2: place(upper), y1: 6, y2: 6, class: "interval" }),
  );
  return make(
    "span",
    { class: "effect-cell", title },
    bar,
    make("span", {}, signed(effect)),
    make("span", { class: "quiet small" }, ` ${signed(lower)} to ${signed(upper)}`),
  );
}

/** How the values of both groups are spread, each as a share of its own group. */
function crowdDrawing({ column, name, counts }) {
  const { distinct, unknown } = ranksOf(column);
  const low = quantileOf(distinct, distinct.length > 50 ? CENTRAL[0] : 0);
  const high = quantileOf(distinct, distinct.length > 50 ? CENTRAL[1] : 1);
  const bins = Math.min(CROWD_BINS, Math.max(distinct.length, 2));
  const binOf = (value) => Math.min(Math.max(Math.floor(shareBetween(value, low, high) * bins), 0), bins - 1);
  const shares = counts.map((group) => {
    const sums = new Float64Array(bins);
    let total = 0;
    for (let k = 0; k < unknown; k++) {
      sums[binOf(distinct[k])] += group[k];
      total += group[k];
    }
    return sums.map((sum) => sum / (total || 1));
  });
  const most = Math.max(...shares[0], ...shares[1], 1e-9);
  const step = CROWD_WIDTH / bins;
  const outline = (group) => {
    let path = `M0 ${CROWD_HEIGHT}`;
    group.forEach(
      (share, k) =>
        (path += `V${(CROWD_HEIGHT - (share / most) * (CROWD_HEIGHT - 2)).toFixed(1)}H${((k + 1) * step).toFixed(1)}`),
    );
    return `${path}V${CROWD_HEIGHT}Z`;
  };
  const said = `Values of ${name}: chosen rows and others`;
  return makeSvg(
    "svg",
    {
      class: "crowd",
      viewBox: `0 0 ${CROWD_WIDTH} ${CROWD_HEIGHT}`,
      role: "img",
      "aria-label": said,
      preserveAspectRatio: "none",
    },
    makeSvg("path", { d: outline(shares[1]), class: "rest" }),
    makeSvg("path", { d: outline(shares[0]), class: "chosen" }),
  );
}

/** The shares of a category in both groups as two bars. */
function sharesDrawing({ chosen, rest, name }) {
  const bar = (share, y, kind) => [
    makeSvg("rect", { x: 0, y, width: CROWD_WIDTH, height: 11, class: "room" }),
    makeSvg("rect", { x: 0, y, width: share * CROWD_WIDTH, height: 11, class: kind }),
  ];
  const said = `Share of ${name}: chosen rows and others`;
  return makeSvg(
    "svg",
    {
      class: "crowd",
      viewBox: `0 0 ${CROWD_WIDTH} ${CROWD_HEIGHT}`,
      role: "img",
      "aria-label": said,
      preserveAspectRatio: "none",
    },
    bar(chosen, 4, "chosen"),
    bar(rest, 19, "rest"),
  );
}
