// The map by keys, when the canvas has the focus.

const STEP = 60; // pixels
const NEARER = 1.25;

export const KEYS = "Keys: arrows move, + and − zoom, 0 shows the whole map, Escape clears what is chosen.";

export function listenToKeys(stage, escape) {
  const does = {
    ArrowLeft: () => stage.pan(STEP, 0),
    ArrowRight: () => stage.pan(-STEP, 0),
    ArrowUp: () => stage.pan(0, STEP),
    ArrowDown: () => stage.pan(0, -STEP),
    "+": () => stage.zoom(NEARER),
    "=": () => stage.zoom(NEARER),
    "-": () => stage.zoom(1 / NEARER),
    "\u2212": () => stage.zoom(1 / NEARER),
    0: () => stage.reset(),
    Escape: escape,
  };
  stage.canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !does[event.key]) return;
    event.preventDefault();
    does[event.key]();
  });
}
