"""Scripts that look a whole page over; each returns what is wrong, and how much it looked at."""

#: What a screen reader would be told nothing of, or something that does not exist.
TOLD = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const ids = all("[id]").map((element) => element.id);
  const wordsOf = (list) => list?.split(" ").map((id) => document.getElementById(id).textContent).join(" ");
  const nameOf = (element) => {
    const given = element.getAttribute("aria-label") ?? wordsOf(element.getAttribute("aria-labelledby"))
      ?? element.labels?.[0]?.textContent ?? element.getAttribute("alt") ?? element.title ?? "";
    return given.trim() || element.textContent.trim();
  };
  const shown = (element) => element.getClientRects().length > 0;
  const controls = all("button, input, select, [role=application], [role=region], [role=img], img, section");
  const wrong = controls.filter((element) => !nameOf(element)).map((element) => element.outerHTML.slice(0, 120));
  for (const element of all("svg")) {
    const told = element.getAttribute("role") === "img" || element.closest("[aria-hidden=true], [role=img]");
    if (!told) wrong.push(`svg: ${element.outerHTML.slice(0, 120)}`);
  }
  for (const name of ["aria-labelledby", "aria-describedby", "aria-controls"]) {
    const asked = all(`[${name}]`).flatMap((element) => element.getAttribute(name).split(" "));
    wrong.push(...asked.filter((id) => !ids.includes(id)).map((id) => `${name}: ${id}`));
  }
  return {
    wrong,
    seen: controls.length,
    twice: ids.filter((id, k) => ids.indexOf(id) !== k),
    headings: all("h1, h2, h3, h4").filter(shown).map((one) => Number(one.tagName[1])),
    language: document.documentElement.lang,
    heads: all("th:not([scope])").length,
    main: all("main").length,
  };
}"""

#: Words with less contrast than WCAG AA asks for: 4.5 to 1, and 3 to 1 for large ones.
CONTRAST = """() => {
  const parts = (color) => color.match(/[\\d.]+/g).map(Number);
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (rgb) => rgb.slice(0, 3).reduce((sum, v, k) => sum + linear(v / 255) * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = parts(getComputedStyle(one).backgroundColor);
      if (color.length === 3 || color[3] > 0.99) return color;
    }
    return [255, 255, 255];
  };
  const wrong = new Set();
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.getClientRects().length) continue;
    if (element.closest("svg, script, style, .also, :disabled, [aria-disabled=true]")) continue;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const [a, b] = [light(parts(style.color)), light(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const what = `${element.tagName} ${element.className} ${element.textContent.slice(0, 40)}`;
    if (contrast < (large ? 3 : 4.5)) wrong.add(`${contrast.toFixed(2)} ${what}`);
    seen++;
  }
  return { wrong: [...wrong], seen };
}"""

#: Whether the element with the focus shows that it has it; else its id or class.
RING = """() => {
  const one = document.activeElement;
  if (one === document.body) return true;
  const style = getComputedStyle(one);
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  return outlined || style.boxShadow !== "none" || `${one.tagName} ${one.id} ${one.className}`;
}"""
