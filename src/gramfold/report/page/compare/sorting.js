// The tables of numbers, sorted by a press on the head of a column; the first press puts the best on top.

import { byId, make, say } from "../shared/dom.js";

export function makeSortable(id) {
  const table = byId(id);
  if (!table) return;
  const body = table.tBodies[0];
  const given = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = make("button", { type: "button", title: "Sort by this column" }, ...head.childNodes);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const first = head.dataset.better === "high" ? "descending" : "ascending";
      const now = head.getAttribute("aria-sort");
      const next = now === null ? first : now === first ? (first === "ascending" ? "descending" : "ascending") : null;
      for (const other of heads) other.removeAttribute("aria-sort");
      if (next) head.setAttribute("aria-sort", next);
      body.append(...(next ? sortedRows(given, column, next === "ascending" ? 1 : -1) : given));
      say(next ? `Sorted, ${next}` : "In the order in which they were given");
    });
  });
}

function sortedRows(rows, column, sign) {
  const keyOf = (row) => {
    const cell = row.cells[column];
    return cell?.dataset.value === undefined ? cell?.textContent ?? "" : cell.dataset.value === "" ? NaN : Number(cell.dataset.value);
  };
  return [...rows].sort((one, other) => {
    const [a, b] = [keyOf(one), keyOf(other)];
    if (typeof a === "string" || typeof b === "string") return sign * String(a).localeCompare(String(b));
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b); // unknown ones last
    return sign * (a - b);
  });
}
