// What the reader has done so far: one place that all parts of the map read, and that tells them when it changes.

/**
 * Topics: "color" (another column colours the rows), "groups" (some are switched off or on), "chosen", "marked" (found by
 * a search), "tool", "axes" (the map is projected anew), "camera" (it is seen from elsewhere), "settled" (the camera
 * came to rest), "pointed" (the row under the pointer, −1 for none).
 */
export function createStore(rows) {
  const listeners = new Map();
  return {
    rows,
    color: rows.firstColor, // −1: one colour for all
    coloring: null, // what coloring.js made of it
    byRank: new Map(), // columns whose ramp the reader wants by rank (true) or by value (false)
    off: new Set(), // colours that are switched off
    mask: new Uint8Array(rows.count), // 1: chosen
    chosen: new Uint32Array(0), // the same rows, in order
    marked: new Uint32Array(0),
    tool: "pan",
    how: "replace", // what a lasso or rectangle does with the rows that were chosen before
    pointed: -1,
    on(topic, listener) {
      if (!listeners.has(topic)) listeners.set(topic, []);
      listeners.get(topic).push(listener);
    },
    tell(topic, ...values) {
      for (const listener of listeners.get(topic) ?? []) listener(...values);
    },
    /** Whether a row is neither in a group that is switched off nor without a place. */
    shows(i) {
      return this.off.size === 0 || !this.off.has(this.coloring.codes[i]);
    },
    choose(chosen) {
      this.mask.fill(0);
      for (const i of chosen) this.mask[i] = 1;
      this.chosen = chosen;
      this.tell("chosen");
    },
    setTool(tool) {
      this.tool = tool;
      this.tell("tool");
    },
    setHow(how) {
      this.how = how;
      this.tell("tool");
    },
    point(i) {
      if (i === this.pointed) return;
      this.pointed = i;
      this.tell("pointed");
    },
    mark(found) {
      this.marked = found;
      this.tell("marked");
    },
  };
}

/** Rows chosen before and those chosen now, together: "add" them, "remove" them, or let them "replace" those before. */
export function combined(store, rows, how) {
  if (how === "replace") return rows;
  const mask = store.mask.slice();
  for (const i of rows) mask[i] = how === "add" ? 1 : 0;
  return rowsOf(mask);
}

export function rowsOf(mask) {
  const found = new Uint32Array(mask.length);
  let count = 0;
  for (let i = 0; i < mask.length; i++) if (mask[i]) found[count++] = i;
  return found.slice(0, count);
}
