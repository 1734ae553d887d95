// Making and finding elements. What the data say enters the page as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** An element with attributes, listeners (`on`) and children: elements or texts; empty ones are left out. */
export function make(tag, attributes = {}, ...children) {
  return furnished(document.createElement(tag), attributes, children);
}

export function makeSvg(tag, attributes = {}, ...children) {
  return furnished(document.createElementNS(SVG, tag), attributes, children);
}

function furnished(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/** A button with words, or with a drawing and a name for those who cannot see it. */
export function makeButton(label, press, attributes = {}, icon = null) {
  const named = icon ? { "aria-label": label, title: label } : {};
  return make("button", { type: "button", ...named, ...attributes, on: { click: press } }, icon ?? label);
}

/** A drawing of 16 × 16 units made of strokes. */
export function makeIcon(path) {
  const drawn = { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", class: "icon" };
  return makeSvg("svg", drawn, makeSvg("path", { d: path }));
}

/** Tell what happened to those who see the page and those who hear it. */
export function say(text) {
  const message = byId("message");
  if (message) message.textContent = text;
}

/** A function that runs once in the next frame however often it is called until then. */
export function oncePerFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

/** A function that runs when it has not been called for so many milliseconds. */
export function whenQuiet(work, milliseconds) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...values), milliseconds);
  };
}

/** Let the browser draw and listen before more work is done. */
export const breathe = () => new Promise((resume) => setTimeout(resume, 0));

export function saveFile(name, parts, type) {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = make("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // after the browser has read it
}
