// The nearest rows on a map, found with a k-d tree that halves the rows at the median of the widest coordinate.

const LEAF = 12; // rows that are looked at one by one

export class NearestRows {
  // columns: arrays of coordinates, NaN where a row has no place
  constructor(columns) {
    this.columns = columns;
    const rows = [];
    for (let i = 0; i < columns[0].length; i++) if (columns.every((values) => Number.isFinite(values[i]))) rows.push(i);
    this.rows = Uint32Array.from(rows);
    this.root = this.split(0, this.rows.length);
  }

  split(start, end) {
    if (end - start <= LEAF) return { start, end, axis: -1 };
    let axis = 0, widest = -1;
    for (let j = 0; j < this.columns.length; j++) {
      const values = this.columns[j];
      let low = Infinity, high = -Infinity;
      for (let at = start; at < end; at++) {
        const value = values[this.rows[at]];
        if (value < low) low = value;
        if (value > high) high = value;
      }
      if (high - low > widest) { widest = high - low; axis = j; }
    }
    if (widest === 0) return { start, end, axis: -1 }; // all at one place
    const middle = (start + end) >> 1;
    orderAt(this.rows, this.columns[axis], start, end - 1, middle);
    const cut = this.columns[axis][this.rows[middle]];
    return { axis, cut, low: this.split(start, middle), high: this.split(middle, end) };
  }

  // the k rows nearest to row i, itself left out
  of(i, k) {
    const at = this.columns.map((values) => values[i]);
    const found = new Uint32Array(k), distances = new Float64Array(k).fill(Infinity);
    let count = 0;
    const look = (node) => {
      if (node.axis < 0) {
        for (let place = node.start; place < node.end; place++) {
          const row = this.rows[place];
          if (row === i) continue;
          let distance = 0;
          for (let j = 0; j < at.length; j++) { const apart = this.columns[j][row] - at[j]; distance += apart * apart; }
          if (distance >= distances[k - 1]) {
            if (distances[k - 1] === 0) return; // nothing can be nearer
            continue;
          }
          let slot = Math.min(count, k - 1);
          while (slot > 0 && distances[slot - 1] > distance) { distances[slot] = distances[slot - 1]; found[slot] = found[slot - 1]; slot--; }
          distances[slot] = distance; found[slot] = row;
          if (count < k) count++;
        }
        return;
      }
      const apart = at[node.axis] - node.cut;
      look(apart < 0 ? node.low : node.high);
      if (apart * apart < distances[k - 1]) look(apart < 0 ? node.high : node.low);
    };
    look(this.root);
    return found.subarray(0, count);
  }
}

// Reorder rows so that the one of rank `middle` stands at its place: Hoare's selection, in three parts for equal values.
function orderAt(rows, values, left, right, middle) {
  while (left < right) {
    const pivot = values[rows[(left + right) >> 1]];
    let low = left, high = right, at = left;
    while (at <= high) {
      const value = values[rows[at]];
      if (value < pivot) swapRows(rows, at++, low++);
      else if (value > pivot) swapRows(rows, at, high--);
      else at++;
    }
    if (middle < low) right = low - 1;
    else if (middle > high) left = high + 1;
    else return;
  }
}

function swapRows(rows, a, b) {
  const held = rows[a];
  rows[a] = rows[b];
  rows[b] = held;
}

// How wide some rows lie on a map: root mean square distance from their mean, relative to that of all rows.
export function relativeSpread(columns, chosen) {
  const all = Array.from({ length: columns[0].length }, (_, i) => i);
  const whole = spreadOf(columns, all);
  return whole > 0 ? spreadOf(columns, chosen) / whole : NaN;
}

function spreadOf(columns, rows) {
  let total = 0, count = 0;
  for (const values of columns) {
    let sum = 0, known = 0;
    for (const i of rows) if (Number.isFinite(values[i])) { sum += values[i]; known++; }
    const mean = sum / known;
    for (const i of rows) if (Number.isFinite(values[i])) total += (values[i] - mean) ** 2;
    count = known;
  }
  return Math.sqrt(total / count);
}

// The share of the k nearest of chosen rows that are chosen too, from at most `most` of them; and from how many.
export function shareTogether(near, chosen, isChosen, k, most) {
  const placed = chosen.filter((i) => near.columns.every((values) => Number.isFinite(values[i])));
  const every = Math.max(1, placed.length / most);
  let shared = 0, seen = 0, asked = 0;
  for (let at = 0; Math.floor(at) < placed.length; at += every) {
    for (const row of near.of(placed[Math.floor(at)], k)) { shared += isChosen[row]; seen++; }
    asked++;
  }
  return { share: seen ? shared / seen : NaN, asked, placed: placed.length };
}
