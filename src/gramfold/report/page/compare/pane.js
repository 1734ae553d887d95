// One map of the grid: its canvas, the ring around the row that is pointed at, and its own view.

import { createMarks } from "../app/marks.js";
import { createNames } from "../app/names.js";
import { createProjection, project, shuffled } from "../app/projection.js";
import { boxInView, columnOfPixel, createCamera, isZoomed, mapX, mapY, panCamera, resetCamera, rowOfPixel, svgTransform, zoomCamera } from "../shared/camera.js";
import { make, makeButton, makeIcon, makeSvg, oncePerFrame, whenQuiet } from "../shared/dom.js";
import { boxOf, createGrid, nearestRow, rowsInBox, rowsInPolygon, visitBox } from "../shared/grid.js";
import { listenToGestures } from "../shared/gestures.js";
import { DEPTHS, FADED, NORMAL, STRONG, createPoints, pointGrowth, pointOpacity, pointSize } from "../shared/points.js";

const REACHES = 14; // pixels around a pointer within which it is on a row
const AROUND = 18; // pixels around the whole map
const PANE_STEP = 40; // pixels by which an arrow key moves
const PANE_NEARER = 1.4; // by which a key or button zooms
const AT_REST = 140; // milliseconds
const MOST_PAIRS = 15; // of axes in a list
const ICONS = {
  nearer: "M8 3v10M3 8h10",
  farther: "M3 8h10",
  whole: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  inView: "M2 8s2-4 6-4 6 4 6 4-2 4-6 4-6-4-6-4zM8 6.5v3M6.5 8h3",
  larger: "M9 3h4v4M13 3 9 7M7 13H3V9M3 13l4-4",
};

/** `does`: choose(rows, event), point(i, pane), clear(). `renderer` is shared by all panes. */
export function createPane(store, map, article, renderer, does) {
  const projection = createProjection(map);
  const camera = createCamera();
  const canvas = make("canvas", {
    tabindex: 0,
    role: "application",
    "aria-roledescription": "map",
    "aria-label": `${map.name}: ${map.placed.length} rows on a map`,
    "aria-describedby": "maps-keys",
  });
  const shape = makeSvg("polygon", { class: "shape", visibility: "hidden" });
  const inMapUnder = makeSvg("g");
  const under = makeSvg("svg", { class: "layer", "aria-hidden": "true" }, inMapUnder);
  const ring = makeSvg("circle", { class: "ring", r: 7, visibility: "hidden" });
  const over = makeSvg("svg", { class: "layer", "aria-hidden": "true" }, shape, ring);
  const element = article.querySelector(".pane");
  const order = shuffled(map.placed);
  const flags = new Uint8Array(map.count);
  let points = null;
  let grid = null;
  let size = 4;
  let codes = null;

  const pane = {
    map,
    article,
    element,
    canvas,
    camera,
    projection,
    inMapUnder,
    over,
    drawn: true,
    get grid() {
      return (grid ??= createGrid(projection.x, projection.y, map.placed));
    },

    async open() {
      element.append(under, canvas, over);
      article.querySelector("h3").append(headOf());
      measure();
      project(projection, map);
      resetCamera(camera, boxOf(projection.x, projection.y, map.placed), AROUND);
      points = createPoints(canvas, { renderer, width: camera.width, height: camera.height });
      pane.paintColors();
      follow();
      setLook();
      await pane.paint();
      new ResizeObserver(oncePerFrame(resize)).observe(element);
      const own = Object.create(store, { rows: { value: { ...store.rows, placed: map.placed } } });
      createMarks(pane, own);
      pane.names = createNames(pane, own);
      listen();
    },

    hasPlace: (i) => Number.isFinite(projection.x[i]),
    placeOf: (i) => [columnOfPixel(camera, projection.x[i]), rowOfPixel(camera, projection.y[i])],
    shows: (i) => store.off.size === 0 || !store.off.has(codes[i]),
    colorOf: (i) => store.coloring.colors[codes[i]],

    rowAt(column, row) {
      const reach = Math.max(REACHES, (size * pointGrowth(camera.scale)) / 2 + 4);
      const near = reach / ((camera.scale * camera.height) / 2);
      return nearestRow(pane.grid, mapX(camera, column), mapY(camera, row), near, pane.shows);
    },

    rowsInView: () => rowsInBox(pane.grid, boxInView(camera)).filter(pane.shows),

    paintColors() {
      const { coloring } = store;
      codes = coloring.ofEach ? coloring.codes.subarray(map.number * map.count, (map.number + 1) * map.count) : coloring.codes;
      points?.setColors(coloring.colors);
    },

    /** Draw all points anew: those without a value first, chosen ones last. */
    async paint() {
      if (!points) return;
      const some = store.chosen.length > 0;
      const absent = store.coloring.absent ?? -1;
      const layers = [[], [], []];
      for (const i of order) {
        if (!pane.shows(i)) continue;
        flags[i] = (some ? (store.mask[i] ? STRONG : FADED) : NORMAL) * DEPTHS + projection.depth[i];
        layers[store.mask[i] ? 2 : codes[i] === absent ? 0 : 1].push(i);
      }
      await points.draw(projection.x, projection.y, codes, flags, layers[0].concat(layers[1], layers[2]));
    },

    showPointed() {
      const i = store.pointed;
      const seen = i >= 0 && pane.hasPlace(i);
      ring.setAttribute("visibility", seen ? "visible" : "hidden");
      if (!seen) return;
      const [x, y] = pane.placeOf(i);
      ring.setAttribute("cx", x);
      ring.setAttribute("cy", y);
      ring.style.fill = pane.colorOf(i);
    },

    reset() {
      resetCamera(camera, boxOf(projection.x, projection.y, map.placed), AROUND);
      follow();
    },
    zoom(factor, column, row) {
      zoomCamera(camera, factor, column, row);
      follow();
    },
  };

  // ------------------------------------------------------------------------------------------------ what is pressed

  function headOf() {
    const button = (label, icon, press, name) =>
      makeButton(`${label}: ${map.name}`, press, { class: `small ${name}` }, makeIcon(ICONS[icon]));
    const larger = button("Enlarge", "larger", () => {
      const now = article.classList.toggle("large");
      larger.setAttribute("aria-pressed", String(now));
      if (now) article.scrollIntoView({ block: "nearest" });
    }, "enlarge");
    larger.setAttribute("aria-pressed", "false");
    return make("span", { class: "pane-tools" },
      axesChoice(),
      button("Zoom in", "nearer", () => pane.zoom(PANE_NEARER), "nearer"),
      button("Zoom out", "farther", () => pane.zoom(1 / PANE_NEARER), "farther"),
      button("Show the whole map", "whole", pane.reset, "whole"),
      button("Choose the rows in view", "inView", (event) => does.choose(pane.rowsInView(), event), "choose-view"),
      larger,
    );
  }

  /** A list of pairs of coordinates, where there are more than two. */
  function axesChoice() {
    const count = map.coordinates.length;
    if (count < 3) return null;
    const pairs = [];
    for (let a = 0; a < count; a++) for (let b = a + 1; b < count; b++) pairs.push([a, b]);
    const shown = pairs.length <= MOST_PAIRS ? pairs : pairs.filter(([a, b]) => b === a + 1);
    return make("select", {
      class: "axes",
      "aria-label": `Coordinates of ${map.name} that are drawn`,
      on: {
        change: async (event) => {
          [projection.across, projection.upwards] = shown[event.target.value];
          project(projection, map);
          grid = null;
          pane.reset();
          store.tell("axes");
          await pane.paint();
        },
      },
    }, shown.map(([a, b], k) => make("option", { value: k }, `${a + 1}, ${b + 1}`)));
  }

  function listen() {
    const draw = (corners) => {
      shape.setAttribute("visibility", corners ? "visible" : "hidden");
      if (corners) shape.setAttribute("points", corners.map((value) => value.toFixed(1)).join(" "));
    };
    listenToGestures(canvas, {
      mode: () => store.tool,
      pan: (dx, dy) => {
        panCamera(camera, dx, dy);
        follow();
      },
      zoom: pane.zoom,
      point: (x, y) => does.point(pane.rowAt(x, y), pane),
      leave: (event) => {
        if (event.type === "pointerleave" && event.pointerType === "touch") return; // a finger that was lifted after a tap
        does.point(-1, pane);
      },
      click: (x, y, event) => {
        const i = pane.rowAt(x, y);
        canvas.focus({ preventScroll: true });
        does.point(i, pane);
        if (i >= 0 && event.pointerType !== "touch") does.choose(Uint32Array.of(i), event, true);
      },
      draw: (_, corners) => draw(corners),
      cancel: () => draw(null),
      drawn: (_, corners, event) => {
        draw(null);
        const onMap = corners.map((value, k) => (k % 2 ? mapY(camera, value) : mapX(camera, value)));
        does.choose(rowsInPolygon(pane.grid, onMap).filter(pane.shows), event);
      },
    });
    const keys = {
      ArrowLeft: () => panCamera(camera, PANE_STEP, 0),
      ArrowRight: () => panCamera(camera, -PANE_STEP, 0),
      ArrowUp: () => panCamera(camera, 0, PANE_STEP),
      ArrowDown: () => panCamera(camera, 0, -PANE_STEP),
      "+": () => zoomCamera(camera, PANE_NEARER),
      "=": () => zoomCamera(camera, PANE_NEARER),
      "-": () => zoomCamera(camera, 1 / PANE_NEARER),
      0: () => resetCamera(camera, boxOf(projection.x, projection.y, map.placed), AROUND),
      Escape: () => does.clear(),
    };
    canvas.addEventListener("keydown", (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? null : keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
      follow();
    });
  }

  // ---------------------------------------------------------------------------------------------------- what is seen

  const settled = whenQuiet(() => {
    setLook();
    store.tell("settled");
  }, AT_REST);

  function follow() {
    points?.see(camera);
    pane.showPointed();
    inMapUnder.setAttribute("transform", svgTransform(camera));
    store.tell("camera");
    settled();
  }

  function setLook() {
    size = pointSize(map.placed.length, camera.width, camera.height);
    let seen = map.placed.length;
    if (isZoomed(camera)) {
      seen = 0;
      visitBox(pane.grid, boxInView(camera), () => seen++);
    }
    const grown = size * pointGrowth(camera.scale);
    const opacity = pointOpacity(seen, grown, camera.width, camera.height);
    const key = `${size.toFixed(2)} ${opacity.toFixed(2)}`;
    if (key === setLook.last) return;
    setLook.last = key;
    points?.setLook({ size, opacity });
  }

  function measure() {
    camera.width = Math.max(element.clientWidth, 1);
    camera.height = Math.max(element.clientHeight, 1);
    for (const layer of [under, over]) {
      layer.setAttribute("viewBox", `0 0 ${camera.width} ${camera.height}`);
      Object.assign(layer.style, { width: `${camera.width}px`, height: `${camera.height}px` }); // whole pixels, as the canvas
    }
  }

  async function resize() {
    if (!element.clientWidth || (camera.width === element.clientWidth && camera.height === element.clientHeight)) return;
    measure();
    resetCamera(camera, boxOf(projection.x, projection.y, map.placed), AROUND);
    await points.resize(camera.width, camera.height);
    setLook();
    follow();
  }

  return pane;
}
