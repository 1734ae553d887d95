// The shortest path between two rows along the edges of the neighbour graph: Dijkstra's algorithm with a binary heap.

/** {rows, length}: the rows of the path from one end to the other; null where none leads from one to the other. */
export function shortestPath({ starts, ends, lengths }, from, to) {
  const count = starts.length - 1;
  const distance = new Float64Array(count).fill(Infinity);
  const before = new Int32Array(count).fill(-1);
  const heap = createHeap(distance);
  distance[from] = 0;
  heap.push(from);
  while (heap.size()) {
    const at = heap.pop();
    if (at === to) return { rows: walkBack(before, to), length: distance[to] };
    for (let k = starts[at]; k < starts[at + 1]; k++) {
      const next = ends[k];
      const along = distance[at] + lengths[k];
      if (along < distance[next]) {
        distance[next] = along;
        before[next] = at;
        heap.push(next);
      }
    }
  }
  return null;
}

function walkBack(before, to) {
  const rows = [to];
  while (before[rows.at(-1)] >= 0) rows.push(before[rows.at(-1)]);
  return Uint32Array.from(rows.reverse());
}

/** Rows ordered by their distance; those whose distance became less move up. */
function createHeap(distance) {
  const items = [];
  const places = new Int32Array(distance.length).fill(-1);
  const put = (item, place) => {
    items[place] = item;
    places[item] = place;
  };
  return {
    size: () => items.length,
    push(item) {
      let place = places[item] >= 0 ? places[item] : items.length;
      while (place > 0) {
        const above = (place - 1) >> 1;
        if (distance[items[above]] <= distance[item]) break;
        put(items[above], place);
        place = above;
      }
      put(item, place);
    },
    pop() {
      const first = items[0];
      const last = items.pop();
      places[first] = -1;
      if (!items.length) return first;
      let place = 0;
      for (;;) {
        let below = 2 * place + 1;
        if (below >= items.length) break;
        if (below + 1 < items.length && distance[items[below + 1]] < distance[items[below]]) below++;
        if (distance[items[below]] >= distance[last]) break;
        put(items[below], place);
        place = below;
      }
      put(last, place);
      return first;
    },
  };
}
