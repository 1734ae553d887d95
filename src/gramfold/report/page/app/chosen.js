// The panel of chosen rows: how many, how they differ from the rest, the rows themselves, and a file of them.

import { csvParts } from "../shared/csv.js";
import { make, makeButton, saveFile, say } from "../shared/dom.js";
import { differencesOf, rankColumns } from "../shared/differences.js";
import { tellCount, tellShare, tellCounted } from "../shared/format.js";
import { createTable } from "../shared/table.js";
import { drawPicture } from "../shared/pictures.js";
import { differencesTable } from "./differences-table.js";
import { tableColumns } from "./rows.js";
import { rowsOf } from "./store.js";

export function createChosenPanel(stage, store) {
  const { rows } = store;
  const count = make("h3", { id: "chosen-count" });
  const differences = make("div", { id: "differences" });
  const table = createTable({
    id: "chosen-table",
    label: "Chosen rows",
    columns: shownColumns(rows),
    point: (i) => store.point(i),
    unpoint: () => store.point(-1),
    press: (i) => stage.bring(i),
  });
  const buttons = make(
    "div",
    { class: "row" },
    makeButton("Save as CSV", () => save(), { id: "save-csv" }),
    makeButton("Invert", () => invert(), { id: "invert" }),
    makeButton("Clear", () => clear(), { id: "clear" }),
  );
  const element = make(
    "section",
    { id: "chosen", "aria-labelledby": "chosen-count", hidden: true },
    make("div", { class: "panel-head" }, count, buttons),
    differences,
    make("h4", {}, "The rows"),
    table.element,
    make(
      "p",
      { class: "quiet small" },
      "The file holds all columns, the coordinates and the row numbers. Cells that a spreadsheet would run as a formula begin with an apostrophe in it.",
    ),
  );
  const compared = tableColumns(rows).filter((column) => column.kind !== "text" && column !== rows.columns[rows.label]);
  let asked = 0; // how often differences were asked for: older answers are dropped

  async function show() {
    const { chosen } = store;
    const mine = ++asked;
    element.hidden = chosen.length === 0;
    if (!chosen.length) {
      differences.replaceChildren();
      return;
    }
    const share = chosen.length / rows.count;
    count.textContent = `${tellCounted(chosen.length, "row")} chosen, ${tellShare(share)} of ${tellCount(rows.count)}`;
    table.show(chosen);
    element.dataset.answered = "false";
    const others = rows.count - chosen.length;
    if (chosen.length < 2 || others < 2) {
      const few = chosen.length < 2 ? "at least two chosen rows" : "at least two rows that are not chosen";
      differences.replaceChildren(make("p", { class: "quiet" }, `A comparison needs ${few}.`));
    } else {
      const entries = await differencesOf(compared, store.mask, () => mine === asked);
      if (!entries || mine !== asked) return;
      differences.replaceChildren(differencesTable(entries, compared.length));
    }
    element.dataset.answered = "true";
  }

  async function save() {
    const columns = savedColumns(rows);
    const parts = await csvParts(columns, store.chosen);
    saveFile(`${fileName(rows.title)}-${store.chosen.length}-rows.csv`, parts, "text/csv;charset=utf-8");
    say(`${tellCounted(store.chosen.length, "row")} saved`);
  }

  function invert() {
    store.choose(rowsOf(store.mask.map((chosen) => 1 - chosen)));
    say(`${tellCounted(store.chosen.length, "row")} chosen`);
  }

  function clear() {
    store.choose(new Uint32Array(0));
    store.mark(new Uint32Array(0));
    say("No row is chosen");
  }

  store.on("chosen", show);
  store.on("tool", () => {
    if (store.tool === "lasso" || store.tool === "rectangle") rankColumns(compared);
  });
  return { element, clear };
}

/** Columns of a table on the page: number, picture, label, and all others of the table. */
export function shownColumns(rows) {
  const number = { name: "row", align: "right", text: (i) => String(rows.numberOf(i)) };
  const picture = { name: "picture", text: () => "", element: (i) => drawPicture(rows.pictures, i, 40) };
  const columns = tableColumns(rows).map((column) => ({
    name: column.unit ? `${column.name} (${column.unit})` : column.name,
    align: column.kind === "number" ? "right" : null,
    text: (i) => column.text(i),
  }));
  return [number, ...(rows.pictures ? [picture] : []), ...columns];
}

/** Columns of a file: row number, all columns, coordinates. */
function savedColumns(rows) {
  const columns = rows.columns.map((column) => ({ name: column.name, cell: (i) => column.exact(i) }));
  const coordinates = rows.coordinates.map((values, k) => ({
    name: rows.axes[k],
    cell: (i) =>
      Number.isFinite(values[i])
        ? String(values instanceof Float32Array ? Number(values[i].toPrecision(8)) : values[i])
        : "",
  }));
  return [{ name: "row", cell: (i) => String(rows.numberOf(i)) }, ...columns, ...coordinates];
}

/** A name that every system takes for a file. */
function fileName(title) {
  return (
    title
      .normalize("NFC")
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 60) || "rows"
  );
}
