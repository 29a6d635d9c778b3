// The page: views by their address, light and dark, and the key where the server wants one.
import * as api from "./api";
import { field, h } from "./dom";
import { isDark } from "./draw/colours";
import type { View } from "./parts";
import { Status } from "./status";
import { attentionView } from "./views/attention";
import { compareView } from "./views/compare";
import { generateView } from "./views/generate";
import { learnView } from "./views/learn";
import { translateView } from "./views/translate";

const kViews: Record<string, { name: string; view: View }> = {
  attention: { name: "Attention", view: attentionView },
  translate: { name: "Translate", view: translateView },
  generate: { name: "Generate", view: generateView },
  compare: { name: "Compare", view: compareView },
  learn: { name: "Learn", view: learnView },
};

const main = document.getElementById("main")!;
const nav = document.getElementById("nav")!;
const notice = document.getElementById("notice")!;
let models: api.Model[] | null = null;
let current: ReturnType<View> = {};

const route = (): string => {
  const name = location.hash.replace(/^#\/?/, "").split("?")[0];
  return name in kViews ? name : "attention";
};

/** Shows the view of the address, once the models are known. */
async function show(): Promise<void> {
  const name = route();
  for (const link of nav.querySelectorAll("a")) {
    if (link.hash === `#/${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${kViews[name].name} · Attend`;
  current.leave?.();
  current = {};
  main.replaceChildren();
  try {
    models ??= await api.models();
  } catch (error) {
    if (name !== route()) return;
    const status = new Status();
    main.replaceChildren(h("h1", {}, kViews[name].name), status.element);
    // Where a key is missing, the form for it says so.
    if (!(error instanceof api.ApiError && error.status === 401)) status.error(error, () => void show());
    return;
  }
  if (name !== route()) return;
  main.replaceChildren();
  current = kViews[name].view(main, { models });
}

function askForKey(error: api.ApiError): void {
  if (notice.childElementCount) {
    notice.querySelector(".why")!.textContent = error.message;
    return;
  }
  const input = h("input", { type: "password", autocomplete: "off", required: true });
  const form = h(
    "form",
    {
      class: "key-form",
      onsubmit: (event: Event) => {
        event.preventDefault();
        api.apiKey.set(input.value.trim());
        notice.replaceChildren();
        models = null;
        void show();
      },
    },
    h("p", { class: "why" }, error.message),
    field("API key", input, "kept in this tab only"),
    h("button", { type: "submit", class: "primary" }, "Use key"),
  );
  notice.replaceChildren(form);
  input.focus();
}

function themeButton(): HTMLButtonElement {
  const name = () => `Switch to ${isDark() ? "light" : "dark"} colours`;
  const button = h(
    "button",
    {
      type: "button",
      class: "icon",
      title: name(),
      "aria-label": name(),
      onclick: () => {
        document.documentElement.dataset["theme"] = isDark() ? "light" : "dark";
        localStorage.setItem("attend.theme", document.documentElement.dataset["theme"]);
        recolour();
      },
    },
    h("span", { "aria-hidden": "true" }, "◐"),
  );
  const recolour = () => {
    button.title = name();
    button.setAttribute("aria-label", name());
    current.recolour?.();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  return button;
}

const chosen = localStorage.getItem("attend.theme");
if (chosen) document.documentElement.dataset["theme"] = chosen;
nav.append(...Object.entries(kViews).map(([path, { name }]) => h("a", { href: `#/${path}` }, name)));
document.getElementById("tools")!.append(themeButton());
document.addEventListener("unauthorized", (event) => askForKey((event as CustomEvent<api.ApiError>).detail));
document.querySelector<HTMLAnchorElement>(".skip")!.addEventListener("click", (event) => {
  event.preventDefault(); // the address is the view's
  main.focus();
});
window.addEventListener("hashchange", () => {
  void show().then(() => main.focus({ preventScroll: true }));
  scrollTo(0, 0);
});
void show();
