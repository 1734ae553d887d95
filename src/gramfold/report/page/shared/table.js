// A table of rows, a page of them at a time.

import { make, makeButton } from "./dom.js";
import { tellCount, MISSING } from "./format.js";

const PAGE = 100;

/**
 * A table of rows of `columns`: {name, text(i), align, element(i)}. point(i), unpoint() and press(i) are told what the
 * reader does with a row. Returns the element, and show(rows).
 */
export function createTable({ id, label, columns, point, unpoint, press }) {
  const head = make(
    "tr",
    {},
    columns.map((column) => make("th", { scope: "col", class: column.align ?? false }, column.name)),
  );
  const body = make("tbody");
  const table = make("table", { id, "aria-label": label }, make("thead", {}, head), body);
  const note = make("span", { class: "quiet" });
  const back = makeButton("Previous", () => turn(-1));
  const on = makeButton("Next", () => turn(1));
  const pager = make("div", { class: "pager" }, back, on, note);
  const element = make(
    "div",
    { class: "rows" },
    make("div", { class: "scrolled", tabindex: 0, role: "region", "aria-label": label }, table),
    pager,
  );
  let rows = [];
  let first = 0;

  const rowOf = (event) => {
    const line = event.target.closest("tbody tr");
    return line ? Number(line.dataset.row) : -1;
  };
  body.addEventListener("pointerover", (event) => rowOf(event) >= 0 && point?.(rowOf(event)));
  body.addEventListener("pointerleave", () => unpoint?.());
  body.addEventListener("click", (event) => rowOf(event) >= 0 && press?.(rowOf(event)));

  function turn(pages) {
    first = Math.min(Math.max(first + pages * PAGE, 0), Math.max(rows.length - 1, 0));
    first -= first % PAGE;
    draw();
    element.firstChild.scrollTop = 0;
  }

  function draw() {
    const last = Math.min(first + PAGE, rows.length);
    body.replaceChildren(...Array.from(rows.slice(first, last), lineOf));
    pager.hidden = rows.length <= PAGE;
    back.disabled = first === 0;
    on.disabled = last === rows.length;
    note.textContent = `Rows ${tellCount(first + 1)} to ${tellCount(last)} of ${tellCount(rows.length)}`;
  }

  const lineOf = (i) =>
    make(
      "tr",
      { "data-row": i },
      columns.map((column) => cellOf(column, i)),
    );

  function cellOf(column, i) {
    const drawn = column.element?.(i);
    if (drawn) return make("td", { class: column.align ?? false }, drawn);
    const text = column.text(i);
    if (text === "") return make("td", { class: `missing ${column.align ?? ""}` }, MISSING);
    return make("td", { class: column.align ?? false, title: text.length > 40 ? text : false }, text);
  }

  return {
    element,
    show(wanted) {
      rows = wanted;
      first = 0;
      draw();
    },
  };
}
