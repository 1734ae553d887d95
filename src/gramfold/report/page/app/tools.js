// The bar above the map: what a drag does, and how near the map is.

import { make, makeButton, makeIcon } from "../shared/dom.js";

const CLOSER = 1.5;
const TOOLS = [
  ["pan", "Move", "M8 1.5v13M1.5 8h13M6 3.5l2-2 2 2M6 12.5l2 2 2-2M3.5 6l-2 2 2 2M12.5 6l2 2-2 2", "Drag to move, wheel or pinch to zoom; click on a row to choose it"],
  ["lasso", "Lasso", "M5 10.6C2.9 9.9 1.5 8.400 1.5 6.700 1.500 4.300 4.400 2.500 8 2.500s6.500 1.800 6.500 4.200S11.600 11 8 11c-.6 0-1.200-.1-1.800-.2M6.300 11.500a1.600 1.600 0 1 1-3.200 0 1.600 1.600 0 0 1 3.200 0zM5.500 12.800c.4.8.2 1.500-.7 2", "Draw around rows to choose them"],
  ["rectangle", "Rectangle", "M2.500 5V3.500H4M6.500 3.500h3M12 3.500h1.500V5M13.500 7v2M13.500 11v1.500H12M9.500 12.500h-3M4 12.500H2.500V11M2.500 9V7", "Drag from corner to corner to choose rows"],
  ["path", "Path", "M4.600 12.500a1.600 1.600 0 1 1-3.200 0 1.600 1.600 0 0 1 3.200 0zM14.600 3.500a1.600 1.600 0 1 1-3.200 0 1.600 1.600 0 0 1 3.200 0zM4.300 11.500 7 8l2.500 1 2.300-4.100", "Click on two rows: the path between them"],
];
const TURN = ["rotate", "Rotate", "M13.300 5.300A6 6 0 1 0 14 8M13.800 2v3.500h-3.500", "Turn three coordinates by dragging"];

export function createTools(stage, store) {
  const buttons = TOOLS.map(([tool, words, icon, title]) => makeButton(words, () => store.setTool(tool), { id: `tool-${tool}`, title, "aria-pressed": "false", disabled: !stage.drawn }, [makeIcon(icon), make("span", { class: "tool-name" }, words)]));
  const turn = store.rows.coordinates.length > 2 ? makeButton(TURN[1], () => turned(), { id: "rotate", title: TURN[3], "aria-pressed": "false", disabled: !stage.drawn }, [makeIcon(TURN[2]), make("span", { class: "tool-name" }, TURN[1])]) : null;
  const closer = (factor) => () => stage.zoom(factor);
  const nearness = [
    makeButton("Zoom in", closer(CLOSER), { id: "zoom-in", disabled: !stage.drawn }, makeIcon("M8 3v10M3 8h10")),
    makeButton("Zoom out", closer(1 / CLOSER), { id: "zoom-out", disabled: !stage.drawn }, makeIcon("M3 8h10")),
    makeButton("Whole map", () => stage.reset(), { id: "reset", disabled: !stage.drawn }, [makeIcon("M2.500 6V2.500H6M10 2.500h3.500V6M13.500 10v3.500H10M6 13.500H2.500V10"), make("span", { class: "tool-name" }, "Whole map")]),
  ];
  const element = make("div", { class: "tools", role: "group", "aria-label": "Map tools" },
    make("div", { class: "segments" }, buttons, turn), make("div", { class: "segments" }, nearness));

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
    turn?.setAttribute("aria-pressed", String(stage.projection.turning));
    stage.element.dataset.tool = store.tool;
  };
  store.on("tool", show);
  show();
  return { element };
}
