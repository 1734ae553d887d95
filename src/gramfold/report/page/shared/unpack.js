// The manifest and its blocks: from text in the page to typed arrays, and columns that one can ask for a row.

import { tellDate, tellNumber } from "./format.js";
import { byId } from "./dom.js";

const ARRAYS = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
};
const MOST_SHOWN = 6; // digits of a number that are read at a glance; files have all that are known
const NONE = { u8: 0xff, u16: 0xffff, u32: 0xffffffff }; // the code of a missing value: all ones

export const readManifest = () => JSON.parse(byId("manifest").textContent);

/** All blocks as ArrayBuffers. The text that held them is let go. */
export function unpackBlocks() {
  const holders = document.querySelectorAll('script[type="application/octet-stream"][id^="block-"]');
  const blocks = [];
  for (const holder of holders) {
    const number = Number(holder.id.slice("block-".length));
    blocks[number] = unzipped(bytesOf(holder.textContent));
    holder.textContent = "";
  }
  return Promise.all(blocks);
}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function unzipped(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** What a reference points to, as it is stored. */
export const storedIn = (ref, blocks) => new ARRAYS[ref.type](blocks[ref.block], ref.at, ref.count);

/** The numbers that a reference points to; codes are turned into the numbers they stand for, NaN where missing. */
export function numbersOf(ref, blocks) {
  const stored = storedIn(ref, blocks);
  if (ref.dictionary) {
    const meant = Float64Array.from(ref.dictionary, (value) => value ?? NaN);
    return Float64Array.from(stored, (code) => (code < meant.length ? meant[code] : NaN));
  }
  if (ref.step !== undefined) {
    const missing = NONE[ref.type];
    return Float64Array.from(stored, (code) => (code === missing ? NaN : ref.low + code * ref.step));
  }
  return stored;
}

/** A column: `missing(i)`, `at(i)` (number, name of the category or text), `text(i)` as shown, `exact(i)` for files. */
export function columnOf(described, blocks) {
  return { number: numberColumn, date: dateColumn, category: categoryColumn, text: textColumn }[described.kind](
    described,
    blocks,
  );
}

function numberColumn(described, blocks) {
  let kept = null;
  const known = described.digits ?? 4;
  const digits = Math.min(known, MOST_SHOWN);
  const single = known === 9; // the table had single precision
  return {
    name: described.name,
    about: described.about ?? "",
    kind: "number",
    unit: described.unit ?? "",
    digits,
    get values() {
      return (kept ??= numbersOf(described.values, blocks)); // made when first asked for: many are never looked at
    },
    missing(i) {
      return Number.isNaN(this.values[i]);
    },
    at(i) {
      return this.values[i];
    },
    text(i) {
      return this.missing(i) ? "" : tellNumber(this.values[i], digits);
    },
    exact(i) {
      if (this.missing(i)) return "";
      if (single) return shortestSingle(this.values[i]);
      return String(known < 17 ? Number(this.values[i].toPrecision(known)) : this.values[i]);
    },
  };
}

/** The fewest digits that give this single-precision number again. */
export function shortestSingle(value) {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}

function dateColumn(described, blocks) {
  let kept = null;
  const form = described.form ?? "day";
  return {
    name: described.name,
    kind: "date",
    form,
    zone: described.zone ?? "",
    get values() {
      return (kept ??= numbersOf(described.values, blocks));
    },
    missing(i) {
      return Number.isNaN(this.values[i]);
    },
    at(i) {
      return this.values[i];
    },
    text(i) {
      return this.missing(i) ? "" : tellDate(this.values[i], form);
    },
    exact(i) {
      return this.text(i);
    },
  };
}

function categoryColumn(described, blocks) {
  let kept = null;
  const none = NONE[described.codes.type];
  return {
    name: described.name,
    kind: "category",
    levels: described.levels,
    none,
    get codes() {
      return (kept ??= storedIn(described.codes, blocks));
    },
    missing(i) {
      return this.codes[i] === none;
    },
    at(i) {
      return this.missing(i) ? "" : described.levels[this.codes[i]];
    },
    text(i) {
      return this.at(i);
    },
    exact(i) {
      return this.at(i);
    },
  };
}

function textColumn(described, blocks) {
  const reader = new TextDecoder();
  let kept = null;
  const stored = () =>
    (kept ??= { bytes: storedIn(described.values.texts, blocks), ends: storedIn(described.values.ends, blocks) });
  return {
    name: described.name,
    kind: "text",
    missing(i) {
      const { ends } = stored();
      return ends[i] === (i ? ends[i - 1] : 0);
    },
    at(i) {
      const { bytes, ends } = stored();
      return reader.decode(bytes.subarray(i ? ends[i - 1] : 0, ends[i]));
    },
    text(i) {
      return this.at(i);
    },
    exact(i) {
      return this.at(i);
    },
  };
}
