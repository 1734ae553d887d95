// Rows as a file of comma-separated values (RFC 4180) that spreadsheets read without running anything in it.

import { breathe } from "./dom.js";

const MARK = "\ufeff"; // tells spreadsheets that the text is UTF-8
const RUNS = /^[=+\-@\t\r]./s; // how cells begin that spreadsheets take for formulas
const RUNS_WITHIN = /[;\t\r\n](?=[" ]*[=+\-@])/g; // where spreadsheets that split lines there would find a formula
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const AT_ONCE = 5_000; // rows

/**
 * A cell. What would be run as a formula begins with an apostrophe, which spreadsheets take as "this is text"; also what
 * follows a separator of other spreadsheets, to whom a quotation mark within a line is none.
 */
export function csvCell(text) {
  const first = RUNS.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  const harmless = first.replace(RUNS_WITHIN, "$&'");
  return /[",;\t\r\n]/.test(harmless) || harmless !== harmless.trim() ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Pieces of the file: `columns` are {name, cell(i) -> text}, rows their numbers. */
export async function csvParts(columns, rows) {
  const parts = [MARK, `${columns.map((column) => csvCell(column.name)).join(",")}\r\n`];
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    const lines = [];
    for (let k = from; k < Math.min(from + AT_ONCE, rows.length); k++) {
      lines.push(columns.map((column) => csvCell(column.cell(rows[k]))).join(","));
    }
    parts.push(`${lines.join("\r\n")}\r\n`);
    await breathe();
  }
  return parts;
}
