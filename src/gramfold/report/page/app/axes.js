// Which coordinates are drawn, of maps of three and more; and how they are turned.

import { make } from "../shared/dom.js";

const RIGHT = 90; // degrees: half of the way that the sliders go

export function createAxes(stage, store) {
  const { rows } = store;
  const { projection } = stage;
  if (rows.coordinates.length < 3) return { element: null };
  const pick = (id, words, key) => {
    const select = make(
      "select",
      { id, disabled: !stage.drawn, on: { change: () => change(key, Number(select.value)) } },
      rows.axes.map((name, k) => make("option", { value: k, selected: k === projection[key] }, name)),
    );
    return { key, select, element: make("label", { class: "field" }, make("span", {}, words), select) };
  };
  const picks = [
    pick("axis-x", "Across", "across"),
    pick("axis-y", "Upwards", "upwards"),
    pick("axis-z", "Into the page", "inwards"),
  ];
  const slider = (id, words, key, most) => {
    const input = make("input", {
      type: "range",
      id,
      min: -most,
      max: most,
      step: 1,
      on: { input: () => turnTo(key, Number(input.value)) },
    });
    return { key, input, element: make("label", { class: "field" }, make("span", {}, words), input) };
  };
  const sliders = [slider("turn", "Turn", "turn", 2 * RIGHT), slider("tilt", "Tilt", "tilt", RIGHT)];
  const note = make("p", { class: "quiet small" }, "Nearer rows are larger and stronger.");
  const element = make(
    "fieldset",
    { class: "axes" },
    make("legend", {}, "Coordinates"),
    picks.map((one) => one.element),
    sliders.map((one) => one.element),
    note,
  );

  /** Two axes that are the same change places. */
  function change(key, axis) {
    const other = ["across", "upwards", "inwards"].find((one) => one !== key && projection[one] === axis);
    if (other) projection[other] = projection[key];
    projection[key] = axis;
    renew();
  }

  function turnTo(key, degrees) {
    projection[key] = (degrees / 180) * Math.PI;
    stage.turnAround();
    settle();
  }

  let resting = 0;
  /** What is found by place is made anew only when the turning ends. */
  function settle() {
    clearTimeout(resting);
    resting = setTimeout(() => store.tell("axes"), 150);
  }

  /** By a drag of so many pixels. */
  function turnBy(columns, lines) {
    const per = Math.PI / Math.max(stage.camera.height, 200);
    projection.turn = wrapped(projection.turn - columns * per);
    projection.tilt = Math.min(Math.max(projection.tilt + lines * per, -Math.PI / 2), Math.PI / 2);
    stage.turnAround();
    show();
    settle();
  }

  const wrapped = (angle) => angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));

  async function renew() {
    show();
    stage.setLook();
    await stage.turnAround({ whole: true });
    store.tell("axes");
  }

  function show() {
    for (const one of picks) one.select.value = String(projection[one.key]);
    for (const one of sliders) {
      one.input.value = String(Math.round((projection[one.key] / Math.PI) * 180));
      one.element.hidden = !projection.turning;
    }
    picks[2].element.hidden = note.hidden = !projection.turning;
  }

  store.on("axes-asked", renew);
  show();
  return { element, turnBy };
}
