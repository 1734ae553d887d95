// The bar above the map: what a drag does, and how near the map is.

import { make, makeButton, makeIcon } from "../shared/dom.js";

const CLOSER = 1.5;
const TOOLS = [
  [
    "pan",
    "Move",
    "M8 1.5v13M1.5 8h13M6 3.5l2-2 2 2M6 12.5l2 2 2-2M3.5 6l-2 2 2 2M12.5 6l2 2-2 2",
    "Drag to move; Ctrl + wheel or pinch to zoom, after a click the wheel alone; click on a row to choose it",
  ],
  [
    "lasso",
    "Lasso",
    "M5 10.6C2.9 9.9 1.5 8.4 1.5 6.7 1.5 4.3 4.4 2.5 8 2.5s6.5 1.8 6.5 4.2S11.6 11 8 11c-.6 0-1.2-.1-1.8-.2M6.3 11.5a1.6 1.6 0 1 1-3.2 0 1.6 1.6 0 0 1 3.2 0zM5.5 12.8c.4.8.2 1.5-.7 2",
    "Draw around rows to choose them",
  ],
  [
    "rectangle",
    "Rectangle",
    "M2.5 5V3.5H4M6.5 3.5h3M12 3.5h1.5V5M13.5 7v2M13.5 11v1.5H12M9.5 12.5h-3M4 12.5H2.5V11M2.5 9V7",
    "Drag from corner to corner to choose rows",
  ],
  [
    "path",
    "Path",
    "M4.6 12.5a1.6 1.6 0 1 1-3.2 0 1.6 1.6 0 0 1 3.2 0zM14.6 3.5a1.6 1.6 0 1 1-3.2 0 1.6 1.6 0 0 1 3.2 0zM4.3 11.5 7 8l2.5 1 2.3-4.1",
    "Click on two rows: the path between them",
  ],
];
const HOWS = [
  ["replace", "New", "Choose these rows instead of those before"],
  ["add", "Add", "Add these rows to those before"],
  ["remove", "Remove", "Take these rows away from those before"],
]; // what a lasso or rectangle does
const TURN = [
  "rotate",
  "Rotate",
  "M13.3 5.3A6 6 0 1 0 14 8M13.8 2v3.5h-3.5",
  "Turn three coordinates by dragging",
];

export function createTools(stage, store) {
  const buttons = TOOLS.map(([tool, words, icon, title]) =>
    makeButton(
      words,
      () => store.setTool(tool),
      { id: `tool-${tool}`, title, "aria-pressed": "false", disabled: !stage.drawn },
      [makeIcon(icon), make("span", { class: "tool-name" }, words)],
    ),
  );
  const turn =
    store.rows.coordinates.length > 2
      ? makeButton(
          TURN[1],
          () => turned(),
          { id: "rotate", title: TURN[3], "aria-pressed": "false", disabled: !stage.drawn },
          [makeIcon(TURN[2]), make("span", { class: "tool-name" }, TURN[1])],
        )
      : null;
  const closer = (factor) => () => stage.zoom(factor);
  const nearness = [
    makeButton("Zoom in", closer(CLOSER), { id: "zoom-in", disabled: !stage.drawn }, makeIcon("M8 3v10M3 8h10")),
    makeButton("Zoom out", closer(1 / CLOSER), { id: "zoom-out", disabled: !stage.drawn }, makeIcon("M3 8h10")),
    makeButton("Whole map", () => stage.reset(), { id: "reset", disabled: !stage.drawn }, [
      makeIcon("M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10"),
      make("span", { class: "tool-name" }, "Whole map"),
    ]),
  ];
  const hows = HOWS.map(([how, words, title]) =>
    makeButton(words, () => store.setHow(how), { id: `how-${how}`, title, "aria-pressed": "false" }),
  );
  const ways = make("div", { class: "segments hows", role: "group", "aria-label": "Rows drawn around" }, hows);
  const element = make(
    "div",
    { class: "tools", role: "group", "aria-label": "Map tools" },
    make("div", { class: "segments" }, buttons, turn),
    ways,
    make("div", { class: "segments" }, nearness),
  );

  /** Start to turn; take up turning again after another tool; or stop. */
  function turned() {
    const { projection } = stage;
    if (projection.turning && store.tool !== "rotate") {
      store.setTool("rotate");
      return;
    }
    projection.turning = !projection.turning;
    store.setTool(projection.turning ? "rotate" : "pan");
    store.tell("axes-asked");
  }

  const show = () => {
    TOOLS.forEach(([tool], k) => buttons[k].setAttribute("aria-pressed", String(store.tool === tool)));
    HOWS.forEach(([how], k) => hows[k].setAttribute("aria-pressed", String(store.how === how)));
    ways.hidden = store.tool !== "lasso" && store.tool !== "rectangle";
    turn?.setAttribute("aria-pressed", String(stage.projection.turning));
    stage.element.dataset.tool = store.tool;
  };
  store.on("tool", show);
  show();
  return { element };
}
