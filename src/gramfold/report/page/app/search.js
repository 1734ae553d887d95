// Find rows by label, by number, or by a value in any column.
//
// Words are looked for in labels, texts and names of categories. "age > 40", "age = 30", "age 30..40" and "type: red"
// ask for one column.

import { make, say, whenQuiet } from "../shared/dom.js";
import { tellCount, tellCounted, tellNumber } from "../shared/format.js";
import { quantileOf } from "../shared/scales.js";
import { nameOfRow } from "./rows.js";

const LISTED = 12; // rows in the list, beside groups
const PATIENCE = 120; // milliseconds after the last key
const QUESTION = /^(.+?)\s*(<=|>=|=|<|>|:)\s*(.+)$/;
const ROW = /^(?:row\s+)?(\d+)$/i;
const SEVERAL = /\s(and|or|between)\s|[<>=]\s*[^<>=\s].*[<>=]/i; // questions of more than one comparison
const SIGNS = /[<>=]|\.\./;
const RANGE = /^(.+?)\s+(\S+)\s*\.\.\s*(\S+)$/;

/**
 * What a question finds: `all`, the rows in order, and `entries` {words, note, rows}, each a part of it; `unclear` where
 * nothing is found and it asks for what this search cannot do.
 */
export function foundBy(rows, texts, question) {
  const wanted = question.trim();
  if (!wanted) return { all: new Uint32Array(0), entries: [], unclear: false };
  const one = ofOneRow(rows, wanted) ?? ofOneColumn(rows, texts, wanted);
  const found = one ?? ofAnyColumn(rows, texts, wanted);
  return { ...found, unclear: !found.all.length && (SEVERAL.test(` ${wanted}`) || (!one && SIGNS.test(wanted))) };
}

/** "row 5"; a number alone may be a value too. */
function ofOneRow(rows, wanted) {
  const number = /\D/.test(wanted) ? ROW.exec(wanted)?.[1] : null;
  const row = number ? rows.rowOfNumber(Number(number)) : -1;
  if (row < 0) return null;
  const all = Uint32Array.of(row);
  return { all, entries: [entryOfRow(rows, row)] };
}

const entryOfRow = (rows, row) => ({
  words: nameOfRow(rows, row),
  note: `row ${rows.numberOf(row)}`,
  rows: Uint32Array.of(row),
});

function ofOneColumn(rows, texts, wanted) {
  const range = RANGE.exec(wanted);
  const asked = range ? [range[0], range[1], "..", range[2]] : QUESTION.exec(wanted);
  if (!asked) return null;
  const column = columnCalled(rows, asked[1]);
  if (!column) return null;
  const holds = range ? testOf(column, texts, "..", range[2], range[3]) : testOf(column, texts, asked[2], asked[3]);
  if (!holds) return null;
  const all = rowsFor(rows.count, holds);
  if (!all.length) return { all, entries: [] };
  return { all, entries: [{ words: wanted, note: tellCounted(all.length, "row"), rows: all }, ...singles(rows, all)] };
}

const columnCalled = (rows, name) => {
  const wanted = name.trim().toLowerCase();
  return rows.columns.find((column) => column.name.toLowerCase() === wanted) ?? null;
};

/** A function of a row number that says whether its value is as asked; null where the question has no sense. */
function testOf(column, texts, sign, first, second) {
  if (column.kind === "number" || column.kind === "date") {
    const read =
      column.kind === "date" ? (text) => Date.parse(text.length <= 10 ? `${text}T00:00Z` : `${text}Z`) : readNumber;
    const [low, high] = [read(first), second === undefined ? NaN : read(second)];
    if (Number.isNaN(low)) return null;
    const { values } = column;
    if (sign === "..") return Number.isNaN(high) ? null : (i) => values[i] >= low && values[i] <= high;
    if (sign === "<") return (i) => values[i] < low;
    if (sign === "<=") return (i) => values[i] <= low;
    if (sign === ">") return (i) => values[i] > low;
    if (sign === ">=") return (i) => values[i] >= low;
    const shown = first.trim();
    if (column.kind === "date") return (i) => column.text(i).startsWith(shown); // a year, a month, a day
    return (i) => values[i] === low || column.text(i) === shown;
  }
  if (sign !== "=" && sign !== ":") return null;
  const wanted = first.trim().toLowerCase();
  const alike = sign === "=" ? (text) => text === wanted : (text) => text.includes(wanted);
  if (column.kind === "category") {
    const good = column.levels.map((level) => alike(level.toLowerCase()));
    return (i) => good[column.codes[i]] === true;
  }
  const lower = texts(column);
  return (i) => alike(lower[i]);
}

const readNumber = (text) => (text.trim() === "" ? NaN : Number(text.replaceAll("\u2212", "-").replaceAll(",", "")));

function ofAnyColumn(rows, texts, wanted) {
  const lower = wanted.toLowerCase();
  const mask = new Uint8Array(rows.count);
  const entries = [];
  const direct = []; // rows that a label, text or number names
  const take = (i) => {
    if (mask[i]) return;
    mask[i] = 1;
    direct.push(i);
  };
  const number = ROW.exec(wanted)?.[1];
  if (number) {
    const row = rows.rowOfNumber(Number(number));
    if (row >= 0) {
      entries.push(entryOfRow(rows, row));
      mask[row] = 1;
    }
  }
  const label = rows.columns[rows.label];
  const asNumber = readNumber(wanted);
  for (const column of label ? [label, ...rows.columns.filter((one) => one !== label)] : rows.columns) {
    if (rows.ofFault.has(rows.columns.indexOf(column))) continue;
    if (column.kind === "category") {
      const good = column.levels.map((level) => level.toLowerCase().includes(lower));
      if (!good.includes(true)) continue;
      const perLevel = good.map((one) => (one ? [] : null));
      for (let i = 0; i < rows.count; i++) {
        const members = perLevel[column.codes[i]];
        if (!members) continue;
        members.push(i);
        mask[i] = 1;
      }
      perLevel.forEach(
        (members, level) =>
          members?.length &&
          entries.push({
            words: `${column.name}: ${column.levels[level]}`,
            note: tellCounted(members.length, "row"),
            rows: Uint32Array.from(members),
          }),
      );
    } else if (column.kind === "text") {
      const kept = texts(column);
      for (let i = 0; i < rows.count; i++) if (kept[i].includes(lower)) take(i);
    } else if (column.kind === "number" && !Number.isNaN(asNumber)) {
      const { values } = column;
      const members = rowsFor(rows.count, (i) => values[i] === asNumber);
      if (!members.length) continue;
      for (const i of members) mask[i] = 1;
      entries.push({ words: `${column.name} = ${wanted}`, note: tellCounted(members.length, "row"), rows: members });
    } else if (column.kind === "date" && /^\d{4}(-\d\d){0,2}/.test(wanted)) {
      const members = rowsFor(rows.count, (i) => column.text(i).startsWith(wanted));
      if (!members.length) continue;
      for (const i of members) mask[i] = 1;
      entries.push({ words: `${column.name}: ${wanted}`, note: tellCounted(members.length, "row"), rows: members });
    }
  }
  const all = rowsFor(rows.count, (i) => mask[i] === 1);
  const first = all.length > 1 ? [{ words: `All ${tellCount(all.length)} rows found`, note: "Enter", rows: all }] : [];
  return { all, entries: [...first, ...entries.slice(0, 3 * LISTED), ...singles(rows, direct)] };
}

const singles = (rows, found) =>
  Array.from(found.slice(0, LISTED), (i) => entryOfRow(rows, i));

function rowsFor(count, holds) {
  const found = [];
  for (let i = 0; i < count; i++) if (holds(i)) found.push(i);
  return Uint32Array.from(found);
}

/** The field and its list. `choose(rows)` is called with what the reader settles on. */
export function createSearch(store, choose) {
  const { rows } = store;
  const kept = new Map(); // texts of columns in small letters
  const texts = (column) => {
    if (!kept.has(column))
      kept.set(
        column,
        Array.from({ length: rows.count }, (_, i) => column.at(i).toLowerCase()),
      );
    return kept.get(column);
  };
  const field = make("input", {
    id: "search",
    type: "search",
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Find rows",
    "aria-label": "Find rows by name, number or value",
    "aria-expanded": "false",
    "aria-controls": "search-results",
    "aria-autocomplete": "list",
    "aria-describedby": "search-help",
  });
  const list = make("ul", { id: "search-results", role: "listbox", "aria-label": "Rows found", hidden: true });
  const help = make(
    "p",
    { id: "search-help", class: "quiet small" },
    "A name, a row number or a value; or one column: ",
    make("code", {}, exampleOf(rows)),
  );
  const element = make("div", { class: "search" }, field, list, help);
  let found = { all: new Uint32Array(0), entries: [], unclear: false };
  let active = -1;
  const nothingFound = () =>
    found.unclear
      ? `Not understood: one column and one comparison, as in ${exampleOf(rows)}`
      : "No row is like that";

  const look = () => {
    found = foundBy(rows, texts, field.value);
    active = -1;
    show();
    store.mark(found.all);
    if (field.value.trim())
      say(found.all.length ? `${tellCounted(found.all.length, "row")} found` : nothingFound());
  };
  let settled = null; // the question that was answered already
  const lookSoon = whenQuiet(() => {
    if (field.value !== settled) look();
  }, PATIENCE);

  function show() {
    const asked = field.value.trim() !== "";
    list.hidden = !asked;
    field.setAttribute("aria-expanded", String(asked));
    const entries = found.entries.map((entry, k) =>
      make(
        "li",
        {
          id: `found-${k}`,
          role: "option",
          "aria-selected": String(k === active),
          on: { pointerdown: (event) => press(event, k) },
        },
        make("bdi", {}, entry.words),
        make("span", { class: "quiet" }, entry.note),
      ),
    );
    list.replaceChildren(
      ...(entries.length
        ? entries
        : [
            make(
              "li",
              { class: "quiet", role: "option", "aria-disabled": "true", "aria-selected": "false" },
              nothingFound(),
            ),
          ]),
    );
    activate(active);
  }

  function activate(k) {
    active = k;
    [...list.children].forEach((entry, other) => entry.setAttribute("aria-selected", String(other === k)));
    if (k >= 0) {
      field.setAttribute("aria-activedescendant", `found-${k}`);
      list.children[k].scrollIntoView({ block: "nearest" });
    } else field.removeAttribute("aria-activedescendant");
  }

  function press(event, k) {
    event.preventDefault(); // the field keeps the focus
    settle(found.entries[k].rows);
  }

  function settle(chosen) {
    settled = field.value;
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    if (chosen.length) choose(chosen);
  }

  field.addEventListener("input", () => {
    settled = null;
    lookSoon();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      const picked = active;
      look(); // the list may be older than the question
      settle(picked >= 0 && found.entries[picked] ? found.entries[picked].rows : found.all);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!found.entries.length) return;
      event.preventDefault();
      if (list.hidden) show();
      if (event.altKey) return;
      const step = event.key === "ArrowDown" ? 1 : -1;
      const count = found.entries.length;
      activate(active < 0 ? (step > 0 ? 0 : count - 1) : (active + step + count) % count);
    } else if (event.key === "Escape") {
      field.value = "";
      look();
      event.stopPropagation();
    }
  });
  field.addEventListener("blur", () => (list.hidden = true));
  for (const event of ["focus", "click"]) field.addEventListener(event, () => list.hidden && show());
  return { element, field };
}

/** A question that this table can answer: which rows are above the median of a column. */
function exampleOf(rows) {
  const column = rows.columns.find((one, j) => one.kind === "number" && !rows.ofFault.has(j) && one.name.length < 20);
  if (!column) return "column = value";
  const known = Float64Array.from(column.values).filter(Number.isFinite).sort();
  return `${column.name} > ${tellNumber(quantileOf(known, 0.5) || 0, 2)}`;
}
