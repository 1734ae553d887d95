// A button beside code that copies it.

import { make, makeButton } from "./dom.js";

export function addCopyButtons() {
  for (const code of document.querySelectorAll("pre.copy")) {
    const button = makeButton(
      "Copy",
      async () => {
        const done = await copied(code);
        button.textContent = done ? "Copied" : "Select and copy it";
        setTimeout(() => (button.textContent = "Copy"), 2_000);
      },
      { class: "copy-button" },
    );
    const holder = make("div", { class: "copy-holder" });
    code.replaceWith(holder);
    holder.append(code, button);
  }
}

/** Pages opened from disk may not have the clipboard: then the text is selected, and copied as by hand. */
async function copied(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  } catch {
    const range = document.createRange();
    range.selectNodeContents(code);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return document.execCommand("copy");
  }
}
