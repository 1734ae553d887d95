// Two rows and the way between them: the line on the map, its length, and the rows along it.

import { make, makeButton, makeSvg, say } from "../shared/dom.js";
import { tellCounted, tellNumber } from "../shared/format.js";
import { drawPicture, paintPixels } from "../shared/pictures.js";
import { quantileOf, shareBetween } from "../shared/scales.js";
import { createTable } from "../shared/table.js";
import { shownColumns } from "./chosen.js";
import { shortestPath } from "./paths.js";
import { nameOfRow } from "./rows.js";

const MOST_CHARTS = 6; // columns that are drawn along a path
const MOST_PICTURES = 24; // of a path; longer ones are shown in part
const CHART_WIDTH = 320; // units of a drawing of a column
const CHART_HEIGHT = 64;

export function createPathPanel(stage, store) {
  const { rows } = store;
  const rim = makeSvg("path", { class: "way-rim" });
  const line = makeSvg("path", { class: "way" });
  const ends = makeSvg("path", { class: "way-end" });
  stage.inMapOver.append(rim, line, ends);
  const head = make("h3", { id: "path-title" });
  const body = make("div", { id: "path-body" });
  const element = make(
    "section",
    { id: "path", "aria-labelledby": "path-title", hidden: true },
    make(
      "div",
      { class: "panel-head" },
      head,
      makeButton("Remove the path", () => clear(), { id: "path-clear" }),
    ),
    body,
  );
  let picked = [];
  let way = null;

  /** A row was clicked on: it is the first or the second end. */
  function pick(i) {
    picked = picked.length === 1 && picked[0] !== i ? [picked[0], i] : [i];
    way = null;
    body.replaceChildren();
    element.hidden = false;
    element.dataset.answered = "false";
    if (!rows.edges) tellNoGraph();
    else if (picked.length === 1) {
      head.textContent = `From ${nameOfRow(rows, i)} …`;
      body.append(
        make(
          "p",
          { class: "quiet" },
          "Click on another row, or find it by its name or number: the path between both along the neighbour graph is drawn.",
        ),
      );
      say(`The path begins at ${nameOfRow(rows, i)}. Click on another row.`);
    } else find();
    draw();
  }

  function tellNoGraph() {
    head.textContent = "No path";
    const why =
      rows.count > 20_000 || rows.total > rows.count
        ? "The page holds the neighbour graph of at most 20,000 rows, and this map has more."
        : "No neighbour graph is known of this map.";
    body.append(make("p", {}, why));
    say(why);
    picked = [];
  }

  function find() {
    const [from, to] = picked;
    way = shortestPath(rows.edges, from, to);
    head.textContent = `From ${nameOfRow(rows, from)} to ${nameOfRow(rows, to)}`;
    if (!way) {
      const words =
        "No path leads from one to the other: the neighbour graph has no edge between their connected components.";
      body.append(make("p", {}, words));
      say(words);
      return;
    }
    const steps = way.rows.length - 1;
    const straight = straightLength(from, to);
    const words = `${tellCounted(steps, "step")} from neighbour to neighbour (${rows.edges.of}), of length ${tellNumber(way.length, 4)} in the data; the straight line on the map has length ${tellNumber(straight, 4)}.`;
    body.append(
      make("p", { id: "path-words", "data-length": way.length, "data-steps": steps }, words),
      ...(rows.pictures ? [strip()] : []),
      charts(),
    );
    if (rows.inverse && steps > 0) body.append(between());
    const table = createTable({
      id: "path-table",
      label: "Rows along the path",
      columns: shownColumns(rows),
      point: (i) => store.point(i),
      unpoint: () => store.point(-1),
      press: (i) => stage.bring(i),
    });
    table.show(way.rows);
    body.append(make("h4", {}, "The rows along it"), table.element);
    element.dataset.answered = "true";
    say(`${tellCounted(steps, "step")} from ${nameOfRow(rows, from)} to ${nameOfRow(rows, to)}`);
  }

  const straightLength = (from, to) => Math.hypot(...rows.coordinates.map((values) => values[from] - values[to]));

  /** Pictures of the rows, evenly taken where there are many. */
  function strip() {
    const count = Math.min(way.rows.length, MOST_PICTURES);
    const taken = Array.from(
      { length: count },
      (_, k) => way.rows[Math.round((k * (way.rows.length - 1)) / Math.max(count - 1, 1))],
    );
    return make(
      "ol",
      { class: "strip", tabindex: 0, "aria-label": "Pictures along the path" },
      taken.map((i) =>
        make(
          "li",
          {
            on: { pointerenter: () => store.point(i), pointerleave: () => store.point(-1) },
          },
          drawPicture(rows.pictures, i, 72),
          make("span", { class: "quiet small" }, nameOfRow(rows, i)),
        ),
      ),
    );
  }

  /** The columns that change most along the path, as a share of how far they reach among all rows. */
  function charts() {
    const numbers = rows.columns.filter(
      (column, j) => column.kind === "number" && !rows.ofFault.has(j) && j !== rows.label,
    );
    const changes = numbers.map((column) => ({ column, ...changeOf(column) })).filter(({ change }) => change > 0);
    changes.sort((a, b) => b.change - a.change);
    if (!changes.length) return make("div");
    const drawn = changes.slice(0, MOST_CHARTS).map(chartOf);
    return make("div", {}, make("h4", {}, "What changes most along it"), make("div", { class: "charts" }, drawn));
  }

  function changeOf({ values }) {
    const along = Array.from(way.rows, (i) => values[i]).filter(Number.isFinite);
    const step = Math.max(1, Math.floor(values.length / 5_000));
    const some = Float64Array.from({ length: Math.ceil(values.length / step) }, (_, k) => values[k * step]).filter(Number.isFinite).sort();
    const [from, to] = [quantileOf(some, 0.05), quantileOf(some, 0.95)];
    const [low, high] = [Math.min(...along), Math.max(...along)];
    return { change: along.length > 1 && to > from ? shareBetween(high, from, to) - shareBetween(low, from, to) : 0, low, high };
  }

  function chartOf({ column, low, high }) {
    const last = Math.max(way.rows.length - 1, 1);
    const place = (k, value) => `${((k / last) * CHART_WIDTH).toFixed(1)} ${(CHART_HEIGHT - 3 - shareBetween(value, low, high) * (CHART_HEIGHT - 6)).toFixed(1)}`;
    let path = "";
    let pen = "M";
    way.rows.forEach((i, k) => {
      const value = column.values[i];
      if (!Number.isFinite(value)) pen = "M";
      else {
        path += pen + place(k, value);
        pen = "L";
      }
    });
    const tell = (value) => tellNumber(value, 4);
    const said = `${column.name} along the path, between ${tell(low)} and ${tell(high)}`;
    return make(
      "figure",
      {},
      make(
        "figcaption",
        {},
        make("bdi", {}, column.name),
        make("span", { class: "quiet" }, `${tell(low)} to ${tell(high)}${column.unit ? ` ${column.unit}` : ""}`),
      ),
      makeSvg(
        "svg",
        { viewBox: `0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`, role: "img", "aria-label": said, preserveAspectRatio: "none" },
        makeSvg("path", { d: path }),
      ),
    );
  }

  /** A slider along the path, and what would stand there: mixed of the two rows around it, and said to be so. */
  function between() {
    const steps = way.rows.length - 1;
    const shown = make("div", { class: "between" });
    const note = make("p", { class: "quiet small", id: "path-between" });
    const slide = () => {
      const place = (Number(slider.value) / 1000) * steps;
      const k = Math.min(Math.floor(place), steps - 1);
      const share = place - k;
      const [a, b] = [way.rows[k], way.rows[k + 1]];
      shown.replaceChildren(rows.pictures ? mixedPicture(a, b, share) : mixedRow(a, b, share));
      const onRow = share < 1e-9 ? a : share > 1 - 1e-9 ? b : -1;
      note.textContent =
        onRow >= 0
          ? `This is ${nameOfRow(rows, onRow)}.`
          : `Interpolated: ${Math.round(100 * (1 - share))}% of ${nameOfRow(rows, a)} and ${Math.round(100 * share)}% of ${nameOfRow(rows, b)}. This is no row of the table.`;
    };
    const slider = make("input", {
      type: "range",
      id: "path-slider",
      min: 0,
      max: 1000,
      step: 1,
      value: 0,
      "aria-label": "Place along the path",
      on: { input: slide },
    });
    slide();
    return make("div", { class: "slide" }, make("h4", {}, "Between the rows"), slider, shown, note);
  }

  function mixedPicture(a, b, share) {
    const { width, height, channels, pixels } = rows.pictures;
    const length = width * height * channels;
    const mixed = Uint8Array.from({ length }, (_, k) =>
      Math.round(pixels[a * length + k] * (1 - share) + pixels[b * length + k] * share),
    );
    return paintPixels(rows.pictures, mixed, 160, "picture between two rows, interpolated");
  }

  function mixedRow(a, b, share) {
    const numbers = rows.dataColumns
      .map((j) => rows.columns[j])
      .filter((column) => column.kind === "number")
      .slice(0, 12);
    return make(
      "dl",
      {},
      numbers.map((column) =>
        make(
          "div",
          {},
          make("dt", {}, column.name),
          make("dd", {}, tellNumber(column.values[a] * (1 - share) + column.values[b] * share, 4)),
        ),
      ),
    );
  }

  function draw() {
    const { x, y } = stage.projection;
    const path = way ? `M${Array.from(way.rows, (i) => `${x[i]} ${y[i]}`).join("L")}` : "";
    line.setAttribute("d", path);
    rim.setAttribute("d", path);
    ends.setAttribute("d", picked.map((i) => `M${x[i]} ${y[i]}h0`).join(""));
  }

  function clear() {
    picked = [];
    way = null;
    element.hidden = true;
    body.replaceChildren();
    draw();
  }

  store.on("axes", draw);
  return { element, pick, clear };
}
