// Light and dark: as the system has it, until the reader presses the button.

import { makeButton } from "./dom.js";

const KEY = "gramfold-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const followers = new Set();

/** Whether the page is dark now. */
export function isDark() {
  const wanted = document.documentElement.dataset.theme;
  return wanted ? wanted === "dark" : system.matches;
}

/** Call a function whenever the page turns dark or light. */
export function whenThemeChanges(follower) {
  followers.add(follower);
}

/** The button that turns the page, which remembers what was chosen until the tab is closed. */
export function makeThemeButton() {
  const remembered = recalled();
  if (remembered) document.documentElement.dataset.theme = remembered;
  const button = makeButton(
    "",
    () => {
      document.documentElement.dataset.theme = isDark() ? "light" : "dark";
      remember(document.documentElement.dataset.theme);
      tell();
    },
    { id: "theme" },
  );
  const tell = () => {
    button.textContent = isDark() ? "Light page" : "Dark page";
    for (const follower of followers) follower(isDark());
  };
  system.addEventListener("change", tell);
  button.textContent = isDark() ? "Light page" : "Dark page";
  return button;
}

// Pages opened from disk may be refused a place to remember things: then the choice lasts until the page is closed.
function recalled() {
  try {
    const theme = sessionStorage.getItem(KEY);
    return theme === "dark" || theme === "light" ? theme : null;
  } catch {
    return null;
  }
}

function remember(theme) {
  try {
    sessionStorage.setItem(KEY, theme);
  } catch {
    // nothing is lost but the memory
  }
}
