// What colours mean: a list of groups that can be switched off, or a ramp with numbers or dates on it.

import { make, makeButton, makeSvg, say } from "../shared/dom.js";
import { tellCount, tellCounted, tellDate, tellNumber } from "../shared/format.js";
import { RAMP_SIZE } from "../shared/palette.js";
import { dateTicks, roundTicks, shareBetween } from "../shared/scales.js";

const MANY = 12; // groups from which they can be searched
const RAMP_WIDTH = 260; // units of the drawing of a ramp
const RAMP_HEIGHT = 12;
const CROWD = 34; // height of the counts above a ramp

/**
 * The legend. `chooseGroup(code)` is called when the reader wants the rows of a group; `setRank(byRank)`, where the ramp
 * can go by rank, when the reader says which.
 */
export function createLegend(store, chooseGroup, setRank = null) {
  const element = make("div", { id: "legend", class: "legend" });
  const rampBy = make(
    "select",
    { id: "ramp-by", "aria-label": "Colours go", on: { change: () => setRank(rampBy.value === "rank") } },
    make("option", { value: "value" }, "by value"),
    make("option", { value: "rank" }, "by rank"),
  );

  function show() {
    const { coloring } = store;
    const held = document.activeElement === rampBy;
    element.replaceChildren(...(isRamp(coloring) ? rampParts() : []), ...groupParts(coloring));
    if (held) rampBy.focus();
  }

  // ------------------------------------------------------------------------------------------------------- groups

  function groupParts(coloring) {
    const { groups } = coloring;
    if (!groups.length)
      return coloring.kind === "plain" ? [make("p", { class: "quiet" }, "All rows have the same colour.")] : [];
    const list = make(
      "ul",
      { class: "groups", tabindex: groups.length > MANY ? 0 : false, "aria-label": "Groups" },
      groups.map(entryOf),
    );
    const parts = [list];
    if (groups.length > MANY) parts.unshift(filterOf(list, groups));
    if (groups.length > 1) {
      const all = makeButton("Show all", () => setOff([]), { class: "plain" });
      const none = makeButton("Hide all", () => setOff(groups.map((group) => group.code)), { class: "plain" });
      parts.push(
        make(
          "div",
          { class: "row" },
          all,
          none,
          make("span", { class: "quiet small" }, tellCounted(groups.filter((group) => !group.missing).length, "group")),
        ),
      );
    }
    return parts;
  }

  function entryOf(group) {
    const shown = () => !store.off.has(group.code);
    const name = make(
      "span",
      { class: group.missing ? "name quiet" : "name" },
      make("bdi", {}, group.name || "(empty)"),
    );
    const button = make(
      "button",
      {
        type: "button",
        class: "group",
        "aria-pressed": String(shown()),
        title: `${group.name}: show or hide; double click shows only this`,
        on: { click: () => toggle(group), dblclick: () => only(group) },
      },
      make("span", { class: "chip", style: `background:${group.color}` }),
      name,
      make("span", { class: "count" }, tellCount(group.count)),
    );
    const onlyThis = makeButton("only", () => only(group), {
      class: "plain small",
      "aria-label": `Show only ${group.name}`,
    });
    const choose = makeButton("choose", () => chooseGroup(group), {
      class: "plain small",
      "aria-label": `Choose the rows of ${group.name}`,
    });
    return make("li", { "data-code": group.code }, button, make("span", { class: "also" }, onlyThis, choose));
  }

  function filterOf(list, groups) {
    const filter = () => {
      const wanted = field.value.trim().toLowerCase();
      let count = 0;
      for (const [k, entry] of [...list.children].entries()) {
        entry.hidden = wanted !== "" && !groups[k].name.toLowerCase().includes(wanted);
        if (!entry.hidden) count++;
      }
      note.textContent = wanted ? `${tellCount(count)} found` : "";
    };
    const field = make("input", {
      type: "search",
      placeholder: "Find a group",
      "aria-label": "Find a group",
      on: { input: filter },
    });
    const note = make("span", { class: "quiet", role: "status" });
    return make("div", { class: "row" }, field, note);
  }

  function toggle(group) {
    const off = new Set(store.off);
    if (!off.delete(group.code)) off.add(group.code);
    setOff(off);
  }

  /** Hide all others; once more, show all again. */
  function only(group) {
    const others = store.coloring.groups.map((one) => one.code).filter((code) => code !== group.code);
    const alone = !store.off.has(group.code) && others.every((code) => store.off.has(code));
    setOff(alone && !isRamp(store.coloring) ? [] : others);
  }

  function setOff(codes) {
    store.off = new Set(codes);
    for (const entry of element.querySelectorAll("li")) {
      entry.querySelector(".group").setAttribute("aria-pressed", String(!store.off.has(Number(entry.dataset.code))));
    }
    const hidden = store.coloring.groups.filter((group) => store.off.has(group.code));
    say(
      hidden.length
        ? `${tellCounted(hidden.length, "group")} hidden, ${tellCounted(
            hidden.reduce((sum, group) => sum + group.count, 0),
            "row",
          )}`
        : "All groups are shown",
    );
    store.tell("groups");
  }

  // --------------------------------------------------------------------------------------------------------- ramps

  const isRamp = (coloring) => coloring.kind === "number" || coloring.kind === "date";

  function rampParts() {
    const { coloring } = store;
    const column = store.rows.columns[store.color];
    if (coloring.empty) return [make("p", { class: "quiet" }, "No row has a value.")];
    const note = noteOf(coloring, column);
    rampBy.value = coloring.ranks ? "rank" : "value";
    const choice = setRank && coloring.high > coloring.low ? rampBy : "";
    return [rampDrawing(coloring, column), choice, note ? make("p", { class: "quiet note" }, note) : ""].filter(Boolean);
  }

  function rampDrawing(coloring, column) {
    const { low, high, colors, codes } = coloring;
    const { ranks } = coloring;
    const place = (value) => (high > low ? shareBetween(value, low, high) * RAMP_WIDTH : RAMP_WIDTH / 2);
    const dates = coloring.kind === "date" ? dateTicks(low, high, 3) : null;
    const write = dates?.write ?? ((value) => tellNumber(value, 6));
    const writeEnd = dates ? (value) => tellDate(value) : (value) => tellNumber(value, 3);
    const ends =
      high > low
        ? [
            { value: low, words: writeEnd(low) },
            { value: high, words: writeEnd(high) },
          ]
        : [{ value: low, words: writeEnd(low) }];
    const ticks = (dates?.ticks ?? roundTicks(low, high, 4)).map((value) => ({ value, words: write(value) }));
    const ofRanks = ranks?.map((value, k) => ({
      value,
      words: writeEnd(value),
      at: (k / (ranks.length - 1)) * RAMP_WIDTH,
    }));
    const isWide = ofRanks?.some(({ words }) => roomOf(words) > RAMP_WIDTH / (ranks.length + 1));
    const labels = ofRanks?.filter((_, k) => !isWide || k % 2 === 0) ?? [
      ...ends,
      ...ticks.filter((tick) =>
        ends.every(
          (end) => Math.abs(place(end.value) - place(tick.value)) > roomOf(end.words) + roomOf(tick.words) / 2,
        ),
      ),
    ];
    const counts = new Float64Array(RAMP_SIZE / 4);
    for (const i of store.rows.placed) if (codes[i] < RAMP_SIZE) counts[codes[i] >> 2]++;
    const most = Math.max(...counts, 1);
    const step = RAMP_WIDTH / counts.length;
    const crowd = Array.from(counts, (count, k) =>
      makeSvg("rect", {
        x: k * step,
        width: step + 0.3,
        y: CROWD - (count / most) * (CROWD - 2),
        height: (count / most) * (CROWD - 2),
        fill: colors[k * 4 + 2],
      }),
    );
    const bar = Array.from({ length: 64 }, (_, k) =>
      makeSvg("rect", {
        x: (k * RAMP_WIDTH) / 64,
        y: CROWD + 2,
        width: RAMP_WIDTH / 64 + 0.3,
        height: RAMP_HEIGHT,
        fill: colors[k * 4 + 2],
      }),
    );
    const marks = labels.map(({ value, words, at = place(value) }) => [
      makeSvg("line", {
        x1: at,
        x2: at,
        y1: CROWD + 2 + RAMP_HEIGHT,
        y2: CROWD + 6 + RAMP_HEIGHT,
        class: "tick",
      }),
      makeSvg("text", { x: at, y: CROWD + 18 + RAMP_HEIGHT, "text-anchor": anchorAt(at) }, words),
    ]);
    const said = `${column.name}: colours ${ranks ? "by rank " : ""}from ${writeEnd(ranks?.[0] ?? low)} to ${writeEnd(ranks?.at(-1) ?? high)}${column.unit ? ` ${column.unit}` : ""}`;
    return makeSvg(
      "svg",
      { class: "ramp", viewBox: `-2 0 ${RAMP_WIDTH + 4} ${CROWD + RAMP_HEIGHT + 24}`, role: "img", "aria-label": said },
      crowd,
      bar,
      marks.flat(),
    );
  }

  const roomOf = (words) => 6.5 * words.length + 4; // of a label of 11 pixels

  const anchorAt = (place) => (place < 16 ? "start" : place > RAMP_WIDTH - 16 ? "end" : "middle");

  function noteOf(coloring, column) {
    const words = column.about ? [column.about] : [];
    if (coloring.ranks) words.push("By rank: equal lengths hold equally many rows.");
    if (column.unit) words.push(`In ${column.unit}.`);
    if (column.zone) words.push(`Time zone ${column.zone}.`);
    if (coloring.below + coloring.above) {
      const ends = [];
      const tell = (value) => (column.kind === "date" ? tellDate(value) : tellNumber(value, 3));
      if (coloring.below) ends.push(`${tellCount(coloring.below)} below (down to ${tell(coloring.least)})`);
      if (coloring.above) ends.push(`${tellCount(coloring.above)} above (up to ${tell(coloring.largest)})`);
      words.push(`The colours end where a few rows lie far out: ${ends.join(" and ")} have the colours of the ends.`);
    }
    return words.join(" ");
  }

  store.on("color", show);
  return { element, show };
}
