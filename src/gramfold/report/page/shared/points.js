// The points, drawn by regl-scatterplot. The library draws and nothing else: it would pan, hover and choose only with a
// mouse, so its listeners get no events, and what it needs to find points by place is left empty.

import { paleColor, rgbOf } from "./palette.js";
import { viewMatrix } from "./camera.js";
import { isDark } from "./theme.js";

const HEARD = ["mousedown", "mouseup", "mousemove", "mouseenter", "mouseleave", "click", "dblclick", "wheel"];
const OVER = 8; // bytes of the head of an index (KDBush) of no points
const FULL = 0.92; // opacity of a point where there is room for all
const FAINTEST = 0.1;
export const DEPTHS = 12; // steps of nearness of a map in three dimensions
export const NORMAL = 0; // states of points
export const FADED = 1;
export const STRONG = 2;

/**
 * What canvases are drawn with; null where there is no WebGL that can. It draws on a canvas of its own, which is copied to
 * those of the maps (there may be several), or at once on the canvas of the only map, where nothing is copied.
 */
export function createPointRenderer(canvas = document.createElement("canvas")) {
  canvas.width = canvas.height = 16;
  try {
    const renderer = globalThis.ReglScatterplot.createRenderer({ canvas });
    return renderer.isSupported ? renderer : null;
  } catch {
    return null;
  }
}

/** The points of one map on a canvas. */
export function createPoints(canvas, { renderer, width, height }) {
  for (const type of HEARD) canvas.addEventListener(type, (event) => event.stopImmediatePropagation());
  const alone = renderer.canvas === canvas;
  if (alone) preventCopies(canvas);
  enlarge(renderer, width, height, alone);
  const plot = globalThis.ReglScatterplot.createScatterplot({
    canvas,
    renderer,
    width,
    height,
    cameraIsFixed: true,
    actionKeyMap: {},
    deselectOnEscape: false,
    deselectOnDblClick: false,
    colorBy: "z",
    opacityBy: "w",
    sizeBy: "w",
    pointScaleMode: "asinh",
    backgroundColor: [0, 0, 0, 0],
  });
  const four = []; // of each row that was ever drawn: x, y, colour, state; the library wants small arrays
  let waiting = null; // the last drawing that was asked for while another was under way
  let drawing = null;
  let paler = 0; // the number of colours, after which each of them comes once more, pale

  /**
   * Draw rows, the last ones on top. x, y: places; colors: numbers of colours; states: NORMAL, FADED or STRONG, each
   * times DEPTHS plus a step of nearness; order: the rows to draw.
   */
  function draw(x, y, colors, states, order) {
    waiting = () => {
      const list = new Array(order.length);
      for (let k = 0; k < order.length; k++) {
        const i = order[k];
        const one = (four[i] ??= [0.5, 0.5, 0.5, 0.5]);
        one[0] = x[i];
        one[1] = y[i];
        one[2] = colors[i] + (states[i] >= FADED * DEPTHS && states[i] < STRONG * DEPTHS ? paler : 0);
        one[3] = states[i];
        list[k] = one;
      }
      const kinds = { zDataType: "categorical", wDataType: "categorical" };
      return plot.draw(list, { ...kinds, preventFilterReset: true, spatialIndex: emptyIndex() });
    };
    return (drawing ??= drawWaiting());
  }

  async function drawWaiting() {
    while (waiting) {
      const next = waiting;
      waiting = null;
      await next();
    }
    drawing = null;
  }

  return {
    draw,
    /** Colours as #rrggbb, one for each number. */
    setColors(colors) {
      const dark = isDark();
      const all = [...colors, ...colors.map((color) => paleColor(color, dark))];
      paler = colors.length;
      plot.set({ pointColor: all.map((color) => [...rgbOf(color).map((part) => part / 255), 1]) });
    },
    /** How large (pixels across) and how opaque points are. With depth, nearer ones are larger and stronger. */
    setLook({ size, opacity, deep = false }) {
      const sizes = [];
      const opacities = [];
      for (const state of [NORMAL, FADED, STRONG]) {
        for (let step = 0; step < DEPTHS; step++) {
          const near = deep ? step / (DEPTHS - 1) : 0.5;
          const strength = { [NORMAL]: opacity, [FADED]: 1, [STRONG]: Math.max(opacity, 0.85) }[state];
          sizes.push(size * (state === STRONG ? 1.25 : 1) * (deep ? 0.6 + 0.8 * near : 1));
          opacities.push(strength * (deep ? 0.35 + 0.65 * near : 1));
        }
      }
      plot.set({ pointSize: sizes, opacity: opacities });
    },
    see(camera) {
      plot.view(viewMatrix(camera));
    },
    async resize(newWidth, newHeight) {
      enlarge(renderer, newWidth, newHeight, alone);
      await plot.set({ width: newWidth, height: newHeight });
    },
    destroy() {
      plot.destroy();
    },
  };
}

/** The library would copy the canvas onto itself through a context that it cannot have. */
function preventCopies(canvas) {
  const contextOf = canvas.getContext.bind(canvas);
  const nothing = { clearRect() {}, drawImage() {} };
  canvas.getContext = (kind, ...options) => (kind === "2d" ? nothing : contextOf(kind, ...options));
}

/** The renderer's canvas must hold the largest of those it draws for, or be as large as the only one. */
function enlarge(renderer, width, height, alone) {
  const pixels = window.devicePixelRatio;
  if (alone) {
    renderer.resize(width, height);
    renderer.refresh();
    return;
  }
  if (renderer.canvas.width >= width * pixels && renderer.canvas.height >= height * pixels) return;
  renderer.resize(Math.max(renderer.canvas.width / pixels, width), Math.max(renderer.canvas.height / pixels, height));
  renderer.refresh();
}

function emptyIndex() {
  const head = new Uint8Array(OVER);
  head.set([0xdb, 0x18, 64]); // KDBush; version 1 of 64-bit floats; 64 points in a node
  return head.buffer;
}

/** Pixels across of a point at the scale at which the whole map is seen. */
export function pointSize(count, width, height) {
  const room = Math.sqrt((width * height) / Math.max(count, 1)); // pixels between points spread evenly
  return Math.min(Math.max(0.32 * room, 1.8), 9);
}

/** How opaque points are of which so many are seen, so that crowds do not become one spot. */
export function pointOpacity(count, size, width, height) {
  const covered = (count * Math.PI * size * size) / 4 / (0.35 * width * height); // maps fill about a third
  return Math.min(Math.max(FULL / Math.max(covered, 1) ** 0.45, FAINTEST), FULL);
}

/** How much larger points become when the map does: the library draws them so ("asinh"). */
export const pointGrowth = (scale) => (scale > 1 ? Math.asinh(scale) / Math.asinh(1) : scale);
