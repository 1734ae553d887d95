// The map of one model: everything is put together here.

import { byId, make, say } from "../shared/dom.js";
import { addCopyButtons } from "../shared/copy.js";
import { tellCounted } from "../shared/format.js";
import { isDark, makeThemeButton, whenThemeChanges } from "../shared/theme.js";
import { readManifest, unpackBlocks } from "../shared/unpack.js";
import { createArrows } from "./arrows.js";
import { createAxes } from "./axes.js";
import { createChosenPanel } from "./chosen.js";
import { coloringOf } from "./coloring.js";
import { createHover } from "./hover.js";
import { KEYS, listenToKeys } from "./keyboard.js";
import { createLegend } from "./legend.js";
import { createMarks } from "./marks.js";
import { MOST_UNASKED, createNames } from "./names.js";
import { createPathPanel } from "./path-panel.js";
import { listenToPointers } from "./pointing.js";
import { createProjection } from "./projection.js";
import { readRows } from "./rows.js";
import { createRowNames } from "./row-names.js";
import { createRulers } from "./rulers.js";
import { createSearch } from "./search.js";
import { createChoices, createColorChoice, createHoverChoice, createShown } from "./side.js";
import { createStage } from "./stage.js";
import { createStore } from "./store.js";
import { createTools } from "./tools.js";

async function openMap() {
  document.querySelector("header").append(makeThemeButton());
  addCopyButtons();
  const rows = readRows(readManifest(), await unpackBlocks());
  const store = createStore(rows);
  const stage = createStage(store, createProjection(rows));
  color(store);

  const chosen = createChosenPanel(stage, store);
  const path = createPathPanel(stage, store);
  const marks = createMarks(stage, store);
  const names = createNames(stage, store, MOST_UNASKED);
  const arrows = createArrows(stage, store, names);
  const rowNames = createRowNames(stage, store, { seen: () => [...names.seen(), ...arrows.seen()] });
  const rulers = createRulers(stage, store);
  const hover = createHover(stage, store);
  const axes = createAxes(stage, store);
  const tools = createTools(stage, store);
  const chooseGroup = (group) => {
    const { codes } = store.coloring;
    store.choose(Uint32Array.from({ length: rows.count }, (_, i) => i).filter((i) => codes[i] === group.code));
    say(`${tellCounted(store.chosen.length, "row")} of ${group.name} chosen`);
  };
  const legend = createLegend(store, chooseGroup, (byRank) => {
    store.byRank.set(store.color, byRank);
    recolor();
  });
  const search = createSearch(store, (found) => {
    if (store.tool === "path" && found.length === 1) {
      path.pick(found[0]); // the ends of a path can be named instead of clicked on
      return;
    }
    store.choose(found);
    store.mark(found);
    say(`${tellCounted(found.length, "row")} chosen`);
  });
  const setColor = (column) => {
    store.color = column;
    store.off = new Set();
    recolor();
  };
  const recolor = () => {
    color(store);
    stage.paintColors();
    store.tell("color");
    return stage.paint();
  };

  const side = make(
    "div",
    { class: "side" },
    search.element,
    make("div", { class: "coloring" }, createColorChoice(store, setColor), legend.element),
    createShown(stage, store, names, rowNames, arrows),
    axes.element,
    createChoices(stage, store, chooseGroup),
    createHoverChoice(store, hover),
  );
  byId("map").append(
    make(
      "div",
      { class: "map-app" },
      make(
        "div",
        { class: "map-main" },
        tools.element,
        stage.element,
        make("div", { class: "notes quiet small" }, notesOf(stage, rows)),
      ),
      side,
    ),
    make("p", { id: "message", role: "status" }),
    path.element,
    chosen.element,
  );
  const showStill = () => {
    tools.element.hidden = true;
    stage.element.replaceWith(byId("map-still") ?? "");
    document.body.dataset.drawn = "still";
  };
  if (!stage.drawn) showStill();
  store.on("lost", () => {
    showStill();
    say("The browser has taken the drawing away, so the map is a still picture: load the page again.");
  });

  const drawn = stage.open(); // the words are made while the points are drawn
  rulers.name();
  marks.drawAll();
  store.tell("color");
  await drawn;

  for (const topic of ["chosen", "groups"]) store.on(topic, () => stage.paint());
  whenThemeChanges(recolor);
  if (stage.drawn) {
    const { giveUp } = listenToPointers(stage, store, path, axes);
    listenToKeys(stage, () => {
      giveUp();
      path.clear();
      chosen.clear();
    });
  }
  offerToTests(stage, store);
  if (stage.drawn) document.body.dataset.drawn = "points";
  document.body.dataset.ready = "true";
}

function color(store) {
  const column = store.rows.columns[store.color];
  store.coloring = coloringOf(column, store.rows.ofFault.get(store.color), store.rows.count, isDark(), store.byRank.get(store.color) ?? null);
}

function notesOf(stage, rows) {
  const notes = [];
  if (!stage.drawn)
    notes.push(
      "This browser cannot draw with WebGL: the map is a still picture. Search, choosing, tables and files work.",
    );
  if (stage.projection.isStrip)
    notes.push(
      "The map has one coordinate, from left to right. Up and down rows are only spread apart, wider where there are more of them.",
    );
  if (rows.unplaced.length)
    notes.push(
      `${tellCounted(rows.unplaced.length, "row")} without a place on the map: not drawn, but found by the search.`,
    );
  if (stage.drawn)
    notes.push(
      "Rows are drawn in a random order, so that no group covers the others.",
    );
  return [
    ...notes.filter(Boolean).map((note) => make("p", {}, note)),
    stage.drawn ? make("p", { id: "map-keys" }, `With Lasso and Rectangle, Ctrl adds and Alt takes away. ${KEYS}`) : "",
  ];
}

/** What tests read of the page; nothing in it changes the page. */
function offerToTests(stage, store) {
  window.gramfold = Object.freeze({
    place: (i) => {
      const box = stage.canvas.getBoundingClientRect();
      const [column, line] = stage.placeOf(i);
      return [box.left + column, box.top + line];
    },
    chosen: () => Array.from(store.chosen, store.rows.numberOf),
    colors: () => Array.from(store.coloring.codes, (code) => store.coloring.colors[code]),
    hidden: () => Array.from(store.rows.placed).filter((i) => !store.shows(i)),
    marked: () => Array.from(store.marked, store.rows.numberOf),
    scale: () => stage.camera.scale / stage.camera.fitted,
    pointed: () => store.pointed,
  });
}

openMap().catch((error) => {
  const message =
    byId("message") ?? document.querySelector("#map").appendChild(make("p", { id: "message", role: "status" }));
  message.textContent =
    "The map could not be opened in this browser; the picture and all words and tables of the page are whole.";
  throw error;
});
