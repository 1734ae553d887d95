// What the report's own scripts may use of the library.
import createScatterplot, {
  checkSupport,
  createRegl,
  createRenderer,
  createSpatialIndex,
} from "regl-scatterplot/src/index.js";

globalThis.ReglScatterplot = { createScatterplot, createRenderer, createRegl, createSpatialIndex, checkSupport };
