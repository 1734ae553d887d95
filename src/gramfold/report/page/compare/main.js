// The page of a comparison: several maps of the same rows, one choice of rows for all.

import { coloringOf } from "../app/coloring.js";
import { createLegend } from "../app/legend.js";
import { createSearch } from "../app/search.js";
import { combined, createStore, rowsOf } from "../app/store.js";
import { addCopyButtons } from "../shared/copy.js";
import { byId, make, makeButton, makeIcon, oncePerFrame, say } from "../shared/dom.js";
import { tellCounted } from "../shared/format.js";
import { createPointRenderer } from "../shared/points.js";
import { isDark, makeThemeButton, whenThemeChanges } from "../shared/theme.js";
import { readManifest, unpackBlocks } from "../shared/unpack.js";
import { createChosen } from "./chosen.js";
import { keptColumn, readMaps } from "./maps.js";
import { createPane } from "./pane.js";
import { createPointed } from "./pointed.js";
import { makeSortable } from "./sorting.js";

const PLAINLY = -1; // one colour for all
const KEPT = -2; // each map has its own column
const TOOL_ICONS = {
  pan: "M8 1.5v13M1.5 8h13M6 3.5l2-2 2 2M6 12.5l2 2 2-2M3.5 6l-2 2 2 2M12.5 6l2 2-2 2",
  lasso: "M5 10.6C2.900 9.900 1.500 8.400 1.500 6.700 1.500 4.300 4.400 2.500 8 2.500s6.500 1.800 6.500 4.200S11.600 11 8 11c-.6 0-1.200-.1-1.800-.2M6.300 11.500a1.600 1.600 0 1 1-3.200 0 1.600 1.600 0 0 1 3.200 0z",
  rectangle: "M2.500 5V3.500H4M6.500 3.500h3M12 3.500h1.500V5M13.500 7v2M13.500 11v1.500H12M9.500 12.500h-3M4 12.500H2.500V11M2.500 9V7",
};

async function openComparison() {
  for (const id of ["measures-table", "faults-table", "costs-table"]) makeSortable(id);
  document.querySelector("body > header").append(makeThemeButton());
  addCopyButtons();
  const manifest = readManifest();
  const renderer = manifest.maps.length ? createPointRenderer() : null;
  if (!renderer) {
    if (manifest.maps.length) {
      byId("tools").append(make("p", { class: "quiet" }, "This browser draws no WebGL, so the maps are still pictures."));
    }
    document.body.dataset.drawn = "still";
    document.body.dataset.ready = "true";
    return;
  }
  const blocks = await unpackBlocks();
  const { rows, maps } = readMaps(manifest, blocks);
  const every = rows.placed;
  const kept = keptColumn(maps, blocks);
  const store = createStore(rows);
  store.shows = () => true; // what is shown may differ from map to map: panes know
  const panes = [];

  // ------------------------------------------------------------------------------------------------------- colours

  function setColor(wanted) {
    store.color = wanted;
    store.off = new Set();
    recolor();
  }

  function recolor() {
    const ofEach = store.color === KEPT;
    const column = ofEach ? kept : (rows.columns[store.color] ?? null);
    store.coloring = coloringOf(column, false, rows.count, isDark());
    store.coloring.ofEach = ofEach;
    rows.placed = ofEach ? Uint32Array.from({ length: rows.count * maps.length }, (_, k) => k) : every;
    rows.columns[KEPT] = kept; // where the legend looks for its name
    for (const pane of panes) pane.paintColors();
    store.tell("color");
    repaint();
  }

  let painting = Promise.resolve();
  const repaint = oncePerFrame(() => {
    painting = paintAll();
  });
  async function paintAll() {
    for (const pane of panes) await pane.paint();
  }

  // -------------------------------------------------------------------------------------------------------- choices

  const does = {
    choose(found, event, pressed = false) {
      const how = event?.ctrlKey || event?.metaKey ? "add" : event?.altKey ? "remove" : "replace";
      const again = pressed && how === "add" && store.mask[found[0]]; // a row that is pressed twice
      store.choose(combined(store, found, again ? "remove" : how));
      if (!store.chosen.length) say("No row is chosen");
    },
    clear: () => store.choose(new Uint32Array(0)),
    point: (i, pane) => pointed.point(i, pane),
  };
  for (const map of maps) {
    const article = [...document.querySelectorAll("#map-grid .map")].find((one) => one.dataset.name === map.name);
    panes.push(createPane(store, map, article, renderer, does));
  }
  const pointed = createPointed(store, panes);
  const chosen = createChosen(store, panes, does);
  store.on("chosen", repaint);
  store.on("groups", repaint);

  const legend = createLegend(store, (group) => {
    if (store.coloring.ofEach) return;
    const mask = new Uint8Array(rows.count);
    for (let i = 0; i < rows.count; i++) mask[i] = store.coloring.codes[i] === group.code ? 1 : 0;
    store.choose(rowsOf(mask));
  });
  const search = createSearch(store, (found) => store.choose(found));

  // ---------------------------------------------------------------------------------------------------------- tools

  function toolButton(tool, words, keys) {
    const pressed = String(store.tool === tool);
    return makeButton(words, () => store.setTool(tool), { id: `tool-${tool}`, "aria-pressed": pressed, title: keys }, [makeIcon(TOOL_ICONS[tool]), make("span", { class: "tool-name" }, words)]);
  }
  const tools = [
    toolButton("pan", "Move", "Drag moves a map, with Shift it draws a lasso"),
    toolButton("lasso", "Lasso", "Draw around rows on any map to choose them on all; Ctrl adds, Alt takes away"),
    toolButton("rectangle", "Rectangle", "Draw a rectangle on any map to choose its rows on all; Ctrl adds, Alt takes away"),
  ];
  store.on("tool", () => {
    for (const button of tools) button.setAttribute("aria-pressed", String(button.id === `tool-${store.tool}`));
    byId("map-grid").dataset.tool = store.tool;
  });
  const colors = make("select", { id: "color", on: { change: (event) => setColor(Number(event.target.value)) } },
    make("option", { value: PLAINLY }, "one colour"),
    kept ? make("option", { value: KEPT }, "neighbours kept, on each map") : "",
    rows.columns.map((column, j) => make("option", { value: j }, column.name)));
  colors.value = String(rows.firstColor);
  const names = make("input", { id: "names", type: "checkbox", checked: true, on: { change: (event) => panes.forEach((pane) => pane.names.set(event.target.checked)) } });
  const nameChoice = make("label", { class: "check" }, names, "Names of groups");
  store.on("color", () => (nameChoice.hidden = store.coloring.kind !== "category"));
  byId("tools").append(
    make("div", { class: "tool-bar" },
      make("div", { class: "segments", role: "group", "aria-label": "What a drag does" }, tools),
      makeButton("Show whole maps", () => panes.forEach((pane) => pane.reset()), { id: "reset" }),
      make("label", { class: "color-choice" }, make("span", {}, "Colour"), colors),
      nameChoice,
      search.element),
    chosen.bar,
    make("p", { id: "message", role: "status", class: "away" }),
    make("p", { id: "maps-keys", class: "away" }, "Arrow keys move the map, plus and minus zoom, 0 shows all of it, Escape clears the choice."));
  byId("map-grid").before(legend.element);
  byId("map-grid").after(chosen.element);

  store.coloring = coloringOf(rows.columns[rows.firstColor] ?? null, false, rows.count, isDark());
  document.body.dataset.drawn = "points";
  renderer.canvas.addEventListener("webglcontextlost", () => {
    document.body.dataset.drawn = "still";
    say("The browser has taken the drawing away, so the maps are still pictures: load the page again.");
  });
  renderer.canvas.addEventListener("webglcontextrestored", () => say("The browser can draw the maps again: load the page again."));
  for (const pane of panes) await pane.open();
  recolor();
  await new Promise((resume) => requestAnimationFrame(resume));
  await painting;
  whenThemeChanges(recolor);

  const paneCalled = (name) => panes.find((pane) => pane.map.name === name) ?? panes[0];
  globalThis.gramfold = Object.freeze({
    maps: () => panes.map((pane) => pane.map.name),
    place(i, name) {
      const pane = paneCalled(name);
      const box = pane.canvas.getBoundingClientRect();
      const [x, y] = pane.placeOf(i);
      return [box.left + x, box.top + y];
    },
    chosen: () => store.chosen.map((i) => rows.numberOf(i)),
    pointed: () => store.pointed,
    colors: (name) => ({ codes: Array.from(every, (i) => paneCalled(name).colorOf(i)), off: [...store.off] }),
    painted: () => painting,
  });
  document.body.dataset.ready = "true";
  say(`${tellCounted(panes.length, "map")} drawn`);
}

openComparison().catch((error) => {
  byId("tools").append(make("p", { role: "status" }, "The maps could not be opened in this browser; pictures, words and tables of the page are whole."));
  document.body.dataset.drawn = "still";
  throw error;
});
