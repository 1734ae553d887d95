// The canvas with the points, what is drawn over it, and the camera that both follow.

import { boxInView, createCamera, columnOfPixel, isZoomed, lookAt, mapX, mapY, panCamera, resetCamera, rowOfPixel, svgTransform, zoomCamera } from "../shared/camera.js";
import { make, makeSvg, oncePerFrame, say, whenQuiet } from "../shared/dom.js";
import { boxOf, createGrid, nearestRow, visitBox } from "../shared/grid.js";
import { DEPTHS, FADED, NORMAL, STRONG, createPointRenderer, createPoints, pointGrowth, pointOpacity, pointSize } from "../shared/points.js";
import { project, shuffled } from "./projection.js";

const REACH = 14; // pixels around a pointer within which it is on a row
const PADDING = 36;
const FLATTEST = 0.5; // height of the stage, in its widths
const REST = 140; // milliseconds without movement after which the camera is at rest

/** The stage of a map. Where there is no WebGL nothing is drawn, and all else works as it does. */
export function createStage(store, projection) {
  const { rows } = store;
  const canvas = make("canvas", {
    id: "canvas",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "map",
    "aria-describedby": "map-keys",
  });
  const renderer = createPointRenderer(canvas);
  const under = makeSvg("svg", { class: "layer", "aria-hidden": "true" });
  const over = makeSvg("svg", { class: "layer", "aria-hidden": "true" });
  const inMapUnder = makeSvg("g");
  const inMapOver = makeSvg("g");
  under.append(inMapUnder);
  over.append(inMapOver);
  const element = make("div", { class: "stage", id: "stage" }, under, canvas, over);
  const camera = createCamera();
  const order = shuffled(rows.placed);
  let points = null;
  let grid = null;
  let size = 4;

  const stage = {
    element,
    canvas,
    over,
    inMapUnder, // groups that follow the camera by one transform: what stands in them is in units of the map
    inMapOver,
    camera,
    projection,
    get grid() {
      return (grid ??= createGrid(projection.x, projection.y, rows.placed));
    },
    drawn: Boolean(renderer),

    async open() {
      canvas.setAttribute("aria-label", `${rows.method}: ${rows.placed.length} rows on a map`);
      if (!renderer) return;
      project(projection, rows);
      setForm();
      measure();
      resetCamera(camera, wholeBox(), PADDING);
      canvas.addEventListener("webglcontextlost", () => {
        stage.drawn = false;
        store.tell("lost");
      });
      canvas.addEventListener("webglcontextrestored", () => say("The browser can draw the map again: load the page again."));
      points = createPoints(canvas, { renderer, width: camera.width, height: camera.height });
      stage.paintColors();
      followCamera();
      await stage.paint();
      new ResizeObserver(oncePerFrame(resize)).observe(element);
      store.tell("settled");
    },

    /** The row at a pixel of the stage, or −1. */
    rowAt(column, row) {
      const reach = Math.max(REACH, (size * pointGrowth(camera.scale)) / 2 + 4);
      const near = reach / ((camera.scale * camera.height) / 2);
      return nearestRow(stage.grid, mapX(camera, column), mapY(camera, row), near, (i) => store.shows(i));
    },

    /** The pixel of the stage at which a row stands. */
    placeOf: (i) => [columnOfPixel(camera, projection.x[i]), rowOfPixel(camera, projection.y[i])],

    /** Draw all points anew, in the order: without a value, others; then chosen ones likewise. */
    async paint() {
      if (!points || !stage.drawn) return;
      await points.draw(projection.x, projection.y, store.coloring.codes, states(), drawingOrder());
    },

    paintColors() {
      points?.setColors(store.coloring.colors);
    },

    move(change) {
      change(camera);
      followCamera();
    },
    pan: (columns, lines) => stage.move((one) => panCamera(one, columns, lines)),
    zoom: (factor, column, row) => stage.move((one) => zoomCamera(one, factor, column, row)),
    reset: () => stage.move((one) => resetCamera(one, wholeBox(), PADDING)),

    /** See a row, if it is not seen already. */
    bring(i) {
      const [column, line] = stage.placeOf(i);
      if (!Number.isFinite(column)) return;
      if (column < 0 || line < 0 || column > camera.width || line > camera.height) {
        stage.move((one) => lookAt(one, projection.x[i], projection.y[i]));
      }
      store.point(i);
    },

    /** Coordinates have changed: places, grid and points are made anew. */
    async turnAround({ whole = false } = {}) {
      project(projection, rows);
      grid = null;
      if (whole) {
        setForm();
        stage.reset();
      } else store.tell("camera");
      await stage.paint();
    },
  };

  /** Around all rows; where they are turned, around all places that they come to. */
  function wholeBox() {
    const { radius } = projection;
    return projection.turning ? [-radius, -radius, radius, radius] : boxOf(projection.x, projection.y, rows.placed);
  }

  const flags = new Uint8Array(rows.count);
  function states() {
    const some = store.chosen.length > 0;
    for (const i of rows.placed) {
      flags[i] = (some ? (store.mask[i] ? STRONG : FADED) : NORMAL) * DEPTHS + projection.depth[i];
    }
    return flags;
  }

  function drawingOrder() {
    const { coloring, mask } = store;
    const absent = coloring.absent ?? -1;
    const far = projection.turning ? byDepth() : order;
    const layerOf = (i) => (mask[i] ? 2 : 0) + (coloring.codes[i] === absent ? 0 : 1);
    const counts = [0, 0, 0, 0];
    for (const i of far) if (store.shows(i)) counts[layerOf(i)]++;
    const next = counts.map((_, layer) => counts.slice(0, layer).reduce((sum, count) => sum + count, 0));
    const sorted = new Uint32Array(next[3] + counts[3]);
    for (const i of far) if (store.shows(i)) sorted[next[layerOf(i)]++] = i;
    return sorted;
  }

  /** From far to near. */
  function byDepth() {
    const { depth } = projection;
    const starts = new Uint32Array(DEPTHS + 1);
    for (const i of order) starts[depth[i] + 1]++;
    for (let step = 0; step < DEPTHS; step++) starts[step + 1] += starts[step];
    const sorted = new Uint32Array(order.length);
    for (const i of order) sorted[starts[depth[i]]++] = i;
    return sorted;
  }

  const settled = whenQuiet(() => {
    setLook();
    store.tell("settled");
  }, REST);

  function followCamera() {
    points?.see(camera);
    const transform = svgTransform(camera);
    inMapUnder.setAttribute("transform", transform);
    inMapOver.setAttribute("transform", transform);
    element.classList.toggle("zoomed", isZoomed(camera));
    store.tell("camera");
    settled();
  }

  function setLook() {
    if (!points) return;
    size = pointSize(rows.placed.length, camera.width, camera.height) / pointGrowth(camera.fitted);
    let seen = 0;
    if (isZoomed(camera)) visitBox(stage.grid, boxInView(camera), () => seen++);
    else seen = rows.placed.length;
    const grown = size * pointGrowth(camera.scale);
    const opacity = pointOpacity(seen, grown, camera.width, camera.height);
    const key = `${size.toFixed(2)} ${opacity.toFixed(2)} ${projection.turning}`;
    if (key === setLook.last) return;
    setLook.last = key;
    points.setLook({ size, opacity, deep: projection.turning });
  }
  stage.setLook = setLook;

  /** The stage is as high as the map is, within reason. */
  function setForm() {
    const [left, bottom, right, top] = wholeBox();
    element.style.setProperty("--form", Math.min(Math.max((top - bottom) / (right - left || 1), FLATTEST), 1));
  }

  function measure() {
    camera.width = Math.max(element.clientWidth, 1);
    camera.height = Math.max(element.clientHeight, 1);
    for (const layer of [under, over]) layer.setAttribute("viewBox", `0 0 ${camera.width} ${camera.height}`);
  }

  async function resize() {
    if (camera.width === element.clientWidth && camera.height === element.clientHeight) return;
    const whole = !isZoomed(camera);
    const [x, y] = [mapX(camera, camera.width / 2), mapY(camera, camera.height / 2)];
    const closeness = camera.scale / camera.fitted;
    measure();
    resetCamera(camera, wholeBox(), PADDING);
    if (!whole) {
      camera.scale *= closeness;
      [camera.right, camera.up] = [-camera.scale * x, -camera.scale * y];
    }
    await points?.resize(camera.width, camera.height);
    setLook();
    followCamera();
  }

  return stage;
}
