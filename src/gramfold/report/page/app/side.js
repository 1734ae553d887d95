// The controls beside the map: what colours rows, what is shown, and what is chosen without a mouse.

import { boxInView } from "../shared/camera.js";
import { make, makeButton, say } from "../shared/dom.js";
import { shortened, tellCount, tellCounted } from "../shared/format.js";
import { rowsInBox } from "../shared/grid.js";
import { listedColumns } from "./rows.js";

const LONGEST_OPTION = 60; // letters
const FAULTS = "Whether to believe it";

/** The choice of the colour. `setColor(j)` is called with the number of a column, −1 for none. */
export function createColorChoice(store, setColor) {
  const { rows } = store;
  const optionOf = (j) =>
    make("option", { value: j, selected: j === store.color }, shortened(rows.columns[j].name, LONGEST_OPTION));
  const usable = rows.columns.map((_, j) => j).filter((j) => rows.columns[j].kind !== "text" || j === rows.firstColor);
  const own = listedColumns(rows).filter((j) => usable.includes(j));
  const faults = usable.filter((j) => rows.ofFault.has(j));
  const select = make(
    "select",
    { id: "color", on: { change: () => setColor(Number(select.value)) } },
    make("option", { value: -1, selected: store.color < 0 }, "one colour"),
    own.length ? make("optgroup", { label: "Columns" }, own.map(optionOf)) : null,
    faults.length ? make("optgroup", { label: FAULTS }, faults.map(optionOf)) : null,
  );
  return make("label", { class: "field" }, make("span", {}, "Colour"), select);
}

/** Names of groups, names of rows and arrows of columns, on or off. */
export function createShown(stage, store, names, rowNames, arrows) {
  const box = (id, words, checked, set) => {
    const change = (on) => {
      set(on);
      store.tell("settled"); // names of one kind make room for those of another
    };
    const input = make("input", {
      type: "checkbox",
      id,
      checked,
      disabled: !stage.drawn,
      on: { change: () => change(input.checked) },
    });
    return { input, element: make("label", { class: "check" }, input, words) };
  };
  const ofNames = box("names", "Names of groups", names.isOn(), names.set);
  const ofRows = rowNames && box("row-names", "Names of rows", rowNames.isOn(), rowNames.set);
  const ofArrows = store.rows.arrows.length ? box("arrows", "What the axes mean", false, arrows.set) : null;
  const hint = ofArrows
    ? make(
        "p",
        { class: "quiet small", hidden: true },
        "Arrows: where a row goes whose value in a column is larger; and the share of the map that each column makes up.",
      )
    : null;
  ofArrows?.input.addEventListener("change", () => (hint.hidden = !ofArrows.input.checked));
  const element = make(
    "fieldset",
    { hidden: true },
    make("legend", {}, "On the map"),
    ofNames.element,
    ofRows?.element,
    ofArrows?.element,
    hint,
  );
  const show = () => {
    ofNames.element.hidden = !names.possible();
    ofNames.input.checked = names.isOn();
    element.hidden = ofNames.element.hidden && !ofRows && !ofArrows;
  };
  store.on("color", show);
  return element;
}

/** Choosing by buttons. */
export function createChoices(stage, store, chooseGroup) {
  const { rows } = store;
  const inView = makeButton(
    "All in view",
    () => {
      const found = rowsInBox(stage.grid, boxInView(stage.camera)).filter((i) => store.shows(i));
      store.choose(found);
      say(`${tellCounted(found.length, "row")} in view chosen`);
    },
    { id: "choose-view", disabled: !stage.drawn },
  );
  const group = make("select", {
    id: "choose-group",
    "aria-label": "Choose a group",
    on: {
      change: () => {
        const picked = store.coloring.groups.find((one) => String(one.code) === group.value);
        if (picked) chooseGroup(picked);
        group.value = "";
      },
    },
  });
  const show = () => {
    const { groups } = store.coloring;
    group.replaceChildren(
      make("option", { value: "" }, "A group …"),
      ...groups.map((one) =>
        make(
          "option",
          { value: one.code },
          `${shortened(one.name || "(empty)", LONGEST_OPTION)} (${tellCount(one.count)})`,
        ),
      ),
    );
    group.disabled = groups.length === 0;
  };
  store.on("color", show);
  const unplaced = rows.unplaced.length
    ? makeButton("Without a place", () => store.choose(rows.unplaced), { id: "choose-unplaced" })
    : null;
  return make(
    "fieldset",
    {},
    make("legend", {}, "Choose rows"),
    make("div", { class: "row" }, inView, group, unplaced),
  );
}

/** Which columns stand beside the pointer. */
export function createHoverChoice(store, hover) {
  const { rows } = store;
  const faults = [...rows.ofFault.keys()];
  const boxes = [...listedColumns(rows), ...faults]
    .filter((j) => j !== rows.label)
    .map((j) => {
      const input = make("input", {
        type: "checkbox",
        checked: hover.shown.has(j),
        on: {
          change: () => {
            if (input.checked) hover.shown.add(j);
            else hover.shown.delete(j);
            hover.show();
          },
        },
      });
      return make("label", { class: "check" }, input, rows.columns[j].name);
    });
  if (!boxes.length) return null;
  return make(
    "details",
    { class: "hover-columns" },
    make("summary", {}, "Columns shown beside the pointer"),
    make("div", { class: "scrolled" }, boxes),
  );
}
