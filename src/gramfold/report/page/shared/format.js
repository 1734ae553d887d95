// Numbers, counts, shares and dates as the page writes them: the same in every country.

const MINUS = "\u2212";
export const MISSING = "\u2013";

/** A number with at most so many significant digits; whole ones keep all of theirs. */
export function tellNumber(value, digits = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? MISSING : value > 0 ? "∞" : `${MINUS}∞`;
  const size = Math.abs(value);
  const whole = Number.isInteger(value) && size < 1e9;
  const short = whole ? value : Number(value.toPrecision(Math.min(Math.max(digits, 1), 17)));
  const written = size !== 0 && (size < 1e-4 || size >= 1e9) ? short.toExponential() : String(short);
  return written.replace("e+", "e").replaceAll("-", MINUS);
}

/** A count with commas: 12,345. */
export const tellCount = (count) => String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/** "1 row", "2 rows". */
export const tellCounted = (count, noun) => `${tellCount(count)} ${noun}${count === 1 ? "" : "s"}`;

/** A share as per cent; what is neither nothing nor all is not rounded to it. */
export function tellShare(share) {
  if (!Number.isFinite(share)) return MISSING;
  const percent = Math.round(100 * share);
  if (percent === 0 && share > 0) return "<1%";
  if (percent === 100 && share < 1) return ">99%";
  return `${percent}%`;
}

/** A moment in UTC: a day, or a day and a time. */
export function tellDate(milliseconds, form = "day") {
  const moment = new Date(milliseconds);
  if (Number.isNaN(moment.getTime())) return MISSING;
  const written = moment.toISOString();
  if (form === "day") return written.slice(0, written.indexOf("T"));
  return written.replace("T", " ").replace(/\.000Z$|Z$/, "");
}

/** Words of at most so many letters. */
export const shortened = (words, letters) => (words.length > letters ? `${words.slice(0, letters - 1)}…` : words);
