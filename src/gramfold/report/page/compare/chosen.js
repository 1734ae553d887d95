// The chosen rows: where they lie on each map, how they differ from the rest, a table of them, and a file.

import { shownColumns } from "../app/chosen.js";
import { differencesTable } from "../app/differences-table.js";
import { rowsOf } from "../app/store.js";
import { csvParts } from "../shared/csv.js";
import { differencesOf } from "../shared/differences.js";
import { make, makeButton, saveFile, say, whenQuiet } from "../shared/dom.js";
import { tellCount, tellCounted, tellShare } from "../shared/format.js";
import { createTable } from "../shared/table.js";
import { NearestRows, relativeSpread, shareTogether } from "./near.js";

const ASKED = 1_000; // chosen rows whose neighbours are looked up
const NONE_CHOSEN = "No rows chosen. Draw around some on any map with Lasso or Rectangle, to see where they lie on all.";
const COMPUTE_WAIT = 80; // milliseconds after the last change before anything is computed

export function createChosen(store, panes, does) {
  const { rows } = store;
  const near = new Map(); // of maps: made when first needed
  const count = make("span", { id: "chosen-count" }, NONE_CHOSEN);
  const save = makeButton("Save as CSV", () => saveRows(), { id: "save-csv", disabled: true });
  const invert = makeButton("Invert", () => store.choose(rowsOf(store.mask.map((chosen) => 1 - chosen))), { id: "invert", disabled: true });
  const clear = makeButton("Clear", () => does.clear(), { id: "clear", disabled: true });
  const bar = make("div", { class: "chosen-bar" }, count, save, invert, clear);
  const whereTable = make("div", { id: "where" });
  const differences = make("div", { id: "differences" });
  const table = createTable({
    id: "chosen-table",
    label: "Chosen rows",
    columns: shownColumns(rows),
    point: (i) => does.point(i, null),
    unpoint: () => does.point(-1, null),
  });
  const element = make("section", { id: "chosen", "aria-labelledby": "chosen-title", hidden: true },
    make("h3", { id: "chosen-title" }, "Where the chosen rows went"), whereTable, differences,
    make("h4", {}, "The rows"), table.element);

  const computeSoon = whenQuiet(compute, COMPUTE_WAIT);
  let round = 0;

  function show() {
    const some = store.chosen.length > 0;
    element.hidden = !some;
    element.dataset.answered = "false";
    for (const button of [save, invert, clear]) button.disabled = !some;
    count.textContent = some ? `${tellCounted(store.chosen.length, "row")} chosen` : NONE_CHOSEN;
    bar.classList.toggle("some", some);
    if (!some) for (const pane of panes) lineOf(pane).hidden = true;
    round++;
    computeSoon();
  }

  async function compute() {
    const mine = round;
    const { chosen, mask } = store;
    if (!chosen.length) {
      whereTable.replaceChildren();
      return;
    }
    table.show(chosen);
    const found = panes.map((pane) => whereOn(pane, chosen, mask));
    panes.forEach((pane, k) => tellOn(pane, found[k]));
    whereTable.replaceChildren(...tableOfMaps(found));
    say(`${tellCounted(chosen.length, "row")} chosen`);
    const others = rows.count - chosen.length;
    if (chosen.length < 2 || others < 2) differences.replaceChildren();
    else {
      const compared = rows.columns.filter((column, j) => column.kind !== "text" && j !== rows.label);
      const entries = await differencesOf(compared, mask, () => mine === round);
      if (!entries || mine !== round) return;
      differences.replaceChildren(differencesTable(entries, compared.length));
    }
    element.dataset.answered = "true";
  }

  /** How wide the rows lie on a map, and how many of the nearest to each of them are chosen too. */
  function whereOn({ map }, chosen, mask) {
    const k = Math.min(rows.neighbors, map.placed.length - 1);
    const placed = Array.from(chosen).filter((i) => map.coordinates.every((values) => Number.isFinite(values[i])));
    if (!placed.length) return { map, placed: 0, spread: NaN, share: NaN, chance: NaN, k, asked: 0 };
    if (!near.has(map)) near.set(map, new NearestRows(map.coordinates));
    const spread = placed.length > 1 ? relativeSpread(map.coordinates, placed) : NaN;
    const together = k > 0 && placed.length > 1 ? shareTogether(near.get(map), placed, mask, k, ASKED) : { share: NaN, asked: 0 };
    const chance = (placed.length - 1) / Math.max(map.placed.length - 1, 1);
    return { map, placed: placed.length, spread, share: together.share, chance, k, asked: together.asked };
  }

  function lineOf(pane) {
    return pane.article.querySelector(".where") ?? pane.element.parentNode.insertBefore(make("p", { class: "where" }), pane.element.nextSibling);
  }

  function tellOn(pane, { placed, spread, share }) {
    const line = lineOf(pane);
    line.hidden = false;
    if (!placed) line.textContent = "The chosen rows have no place on this map.";
    else if (store.chosen.length === 1) line.textContent = "The chosen row is marked.";
    else line.replaceChildren("Chosen: ", make("b", {}, tellShare(spread)), " as wide as the map, ", make("b", {}, tellShare(share)), " of their nearest are chosen too");
  }

  function tableOfMaps(found) {
    if (store.chosen.length < 2) return [make("p", { class: "quiet" }, "Choose more than one row to see how far apart they lie on each map.")];
    const k = Math.max(...found.map((one) => one.k));
    const asked = Math.max(...found.map((one) => one.asked));
    const lack = found.some((one) => one.placed < store.chosen.length);
    const heads = ["Map", "As wide as the map", `Of their ${k} nearest, chosen too`, "By chance", lack ? "With a place" : null];
    const head = make("tr", {}, heads.filter(Boolean).map((words) => make("th", { scope: "col" }, words)));
    const lines = found.map((one) => make("tr", { "data-name": one.map.name },
      make("th", { scope: "row" }, make("bdi", {}, one.map.name)),
      make("td", { "data-value": one.spread }, barOf(one.spread), make("span", { class: "share" }, tellShare(one.spread))),
      make("td", { "data-value": one.share }, barOf(one.share), make("span", { class: "share" }, tellShare(one.share))),
      make("td", {}, tellShare(one.chance)),
      lack ? make("td", {}, tellCount(one.placed)) : ""));
    const sampled = asked < store.chosen.length && asked ? ` Neighbours were looked up for ${tellCount(asked)} of the chosen rows.` : "";
    const drawn = rows.total > rows.count ? " Neighbours are those among the rows drawn." : "";
    const words = `Width: root mean square distance from their middle, beside that of all rows. Both are of all coordinates of a map.${sampled}${drawn}`;
    return [
      make("div", { class: "scrolls", tabindex: 0, role: "region", "aria-label": "Where the chosen rows are on each map" },
        make("table", { class: "compared", id: "where-table" }, make("thead", {}, head), make("tbody", {}, lines))),
      make("p", { class: "quiet small" }, words),
    ];
  }

  const barOf = (share) => make("span", { class: "share-bar", "aria-hidden": "true", style: `--share:${Number.isFinite(share) ? Math.min(share, 1) : 0}` });

  async function saveRows() {
    const columns = [{ name: "row", cell: (i) => String(rows.numberOf(i)) }];
    for (const column of rows.columns) columns.push({ name: column.name, cell: (i) => column.exact(i) });
    for (const { map } of panes) {
      map.axes.forEach((axis, j) => columns.push({ name: axis, cell: (i) => (Number.isFinite(map.coordinates[j][i]) ? String(map.coordinates[j][i]) : "") }));
    }
    saveFile(`comparison-${store.chosen.length}-rows.csv`, await csvParts(columns, store.chosen), "text/csv;charset=utf-8");
    say(`${tellCounted(store.chosen.length, "row")} saved`);
  }

  store.on("chosen", show);
  return { element, bar };
}
