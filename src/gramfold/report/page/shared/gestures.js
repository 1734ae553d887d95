// What hands do on a map, with a mouse, a pen or fingers alike.

import { make } from "./dom.js";

const CLICK_DISTANCE = 5; // pixels within which a press is a click and no drag
const WHEEL_SPEED = 0.0016;
const PINCH_SPEED = 0.01; // browsers tell of a pinch on a touchpad as a wheel with the control key, and ...
const PINCHED = 50; // ... of fewer pixels than a wheel turns
const LINE = 16; // pixels of a line, where wheels count lines
const PAGE_SCROLLS = 200; // milliseconds after a wheel event elsewhere in which the page goes on to scroll
const HINTED = 1_600; // milliseconds for which the hint is seen

/**
 * Listen on an element. `does` has functions, each of which may be missing:
 * mode() -> "pan" | "lasso" | "rectangle" | "rotate" | "none", pan(dx, dy), rotate(dx, dy), zoom(factor, x, y), settle(),
 * click(x, y, event), point(x, y, event), leave(), draw(shape, corners), drawn(shape, corners, event), cancel().
 * Places are pixels of the element; corners are [x0, y0, x1, y1, …]. Returns a function that gives up a shape being drawn.
 */
export function listenToGestures(element, does) {
  const fingers = new Map(); // pointers that are down: [x, y]
  let start = null; // of the press: {x, y, shape, corners}
  let moved = false;
  let spread = null; // of two fingers: {distance, x, y}
  let wheeledElsewhere = -Infinity;

  const placeOf = (event) => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spreadOf = () => {
    const [[ax, ay], [bx, by]] = fingers.values();
    return { distance: Math.hypot(ax - bx, ay - by), x: (ax + bx) / 2, y: (ay + by) / 2 };
  };
  const shapeOf = (event) => {
    const mode = does.mode?.() ?? "pan";
    return mode === "pan" && event.shiftKey ? "lasso" : mode;
  };
  const giveUp = () => {
    if (start && (start.shape === "lasso" || start.shape === "rectangle")) does.cancel?.();
    start = null;
  };

  element.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    const [x, y] = placeOf(event);
    fingers.set(event.pointerId, [x, y]);
    if (fingers.size === 2) {
      giveUp();
      spread = spreadOf();
      return;
    }
    moved = false;
    start = { x, y, lastX: x, lastY: y, shape: shapeOf(event), corners: [x, y] };
  });

  element.addEventListener("pointermove", (event) => {
    const [x, y] = placeOf(event);
    if (!fingers.has(event.pointerId)) {
      does.point?.(x, y, event);
      return;
    }
    fingers.set(event.pointerId, [x, y]);
    if (fingers.size === 2) {
      const now = spreadOf();
      if (spread.distance > 0) does.zoom?.(now.distance / spread.distance, now.x, now.y);
      does.pan?.(now.x - spread.x, now.y - spread.y);
      spread = now;
      return;
    }
    if (!start) return;
    if (!moved && Math.hypot(x - start.x, y - start.y) < CLICK_DISTANCE) return;
    if (!moved) does.leave?.(event);
    moved = true;
    if (start.shape === "pan") does.pan?.(x - start.lastX, y - start.lastY);
    if (start.shape === "rotate") does.rotate?.(x - start.lastX, y - start.lastY);
    if (start.shape === "lasso") {
      // events of the same frame come together: the path between them belongs to the shape too
      const passed = event.getCoalescedEvents?.() ?? [];
      for (const one of passed.length ? passed : [event]) start.corners.push(...placeOf(one));
    }
    if (start.shape === "rectangle") start.corners = [start.x, start.y, x, start.y, x, y, start.x, y];
    if (start.shape === "lasso" || start.shape === "rectangle") does.draw?.(start.shape, start.corners);
    [start.lastX, start.lastY] = [x, y];
  });

  const lift = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (spread) {
      if (fingers.size === 0) spread = null;
      does.settle?.();
      start = null;
      return;
    }
    if (!start) return;
    const done = start;
    start = null;
    if (event.type === "pointercancel") {
      if (done.shape === "lasso" || done.shape === "rectangle") does.cancel?.();
    } else if (!moved) does.click?.(done.x, done.y, event);
    else if (done.shape === "lasso" || done.shape === "rectangle") does.drawn?.(done.shape, done.corners, event);
    else does.settle?.();
  };
  element.addEventListener("pointerup", lift);
  element.addEventListener("pointercancel", lift);
  element.addEventListener("pointerleave", (event) => {
    if (!fingers.has(event.pointerId)) does.leave?.(event);
  });

  // A page that is being scrolled is not stopped where the map comes under the pointer: the wheel zooms with a key, or
  // when the map has the focus and the page does not scroll already.
  const hintWheel = wheelHint(element);
  const isAsked = (event) =>
    event.ctrlKey ||
    event.metaKey ||
    (element.contains(document.activeElement) && event.timeStamp - wheeledElsewhere >= PAGE_SCROLLS);
  window.addEventListener(
    "wheel",
    (event) => {
      if (!element.contains(event.target)) wheeledElsewhere = event.timeStamp;
    },
    { passive: true },
  );
  element.addEventListener(
    "wheel",
    (event) => {
      if (!isAsked(event)) {
        wheeledElsewhere = event.timeStamp;
        hintWheel();
        return;
      }
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? element.clientHeight : 1);
      const pinched = event.ctrlKey && Math.abs(pixels) < PINCHED;
      const factor = Math.exp(-pixels * (pinched ? PINCH_SPEED : WHEEL_SPEED));
      does.zoom?.(Math.min(Math.max(factor, 0.2), 5), ...placeOf(event));
      does.settle?.();
    },
    { passive: false, capture: true },
  ); // before the canvas, which keeps what it is told from the library

  return giveUp;
}

/** Shows over a map, for a moment, what makes the wheel zoom. */
function wheelHint(element) {
  const key = /Mac/.test(navigator.platform) ? "\u2318" : "Ctrl";
  const hint = make("div", { class: "wheel-hint", "aria-hidden": "true" }, `${key} + wheel zooms, or click the map first`);
  element.closest(".stage, .pane").append(hint);
  let timer = 0;
  return () => {
    hint.classList.add("seen");
    clearTimeout(timer);
    timer = setTimeout(() => hint.classList.remove("seen"), HINTED);
  };
}
