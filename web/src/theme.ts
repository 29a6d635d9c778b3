// The switch between light and dark colours. Without a choice, the system decides.
import { h } from "./dom";
import { isDark } from "./draw/colours";

/** `recolour` draws the pictures again. */
export function themeButton(recolour: () => void): HTMLButtonElement {
  const name = () => `Switch to ${isDark() ? "light" : "dark"} colours`;
  const button = h(
    "button",
    {
      type: "button",
      class: "icon",
      onclick: () => {
        document.documentElement.dataset["theme"] = isDark() ? "light" : "dark";
        changed();
      },
    },
    h("span", { "aria-hidden": "true" }, "◐"),
  );
  const label = () => {
    button.title = name();
    button.setAttribute("aria-label", name());
  };
  const changed = () => {
    label();
    recolour();
  };
  label();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  return button;
}
