// The explorer: shows the view that the address names, and asks for an API key if the server needs one.
import * as api from "./api";
import { field, h } from "./dom";
import { summarizes, type View } from "./parts";
import { Status } from "./status";
import { themeButton } from "./theme";
import { attentionView } from "./views/attention";
import { compareView } from "./views/compare";
import { generateView } from "./views/generate";
import { learnView } from "./views/learn";
import { memoryView } from "./views/memory";
import { summarizeView } from "./views/summarize";
import { translateView } from "./views/translate";

/** `needs`: what a model must be able to do; otherwise there is no link to the view. */
const kViews: Record<string, { name: string; view: View; needs?: (model: api.Model) => boolean }> = {
  attention: { name: "Attention", view: attentionView },
  translate: { name: "Translate", view: translateView },
  summarize: { name: "Summarize", view: summarizeView, needs: summarizes },
  generate: { name: "Generate", view: generateView },
  compare: { name: "Compare", view: compareView },
  memory: { name: "Memory", view: memoryView, needs: (model) => model.capabilities.includes("answer") },
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

/** Shows the view that the address names, once the models are known. */
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
    // If the key is missing, the form for it says so.
    if (!(error instanceof api.ApiError && error.status === 401)) status.error(error, () => void show());
    return;
  }
  if (name !== route()) return;
  for (const link of nav.querySelectorAll("a")) {
    const { needs } = kViews[link.hash.slice(2)];
    link.hidden = needs !== undefined && !models.some(needs);
  }
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

/** Draws the present view in the colours of the theme, and remembers the choice. */
function recolour(): void {
  const theme = document.documentElement.dataset["theme"];
  if (theme) localStorage.setItem("attend.theme", theme);
  current.recolour?.();
}

const chosen = localStorage.getItem("attend.theme");
if (chosen) document.documentElement.dataset["theme"] = chosen;
nav.append(
  ...Object.entries(kViews).map(([path, { name, needs }]) =>
    h("a", { href: `#/${path}`, hidden: Boolean(needs) }, name),
  ),
);
document.getElementById("tools")!.append(themeButton(recolour));
document.addEventListener("unauthorized", (event) => askForKey((event as CustomEvent<api.ApiError>).detail));
document.querySelector<HTMLAnchorElement>(".skip")!.addEventListener("click", (event) => {
  event.preventDefault(); // the address names the view
  main.focus();
});
window.addEventListener("hashchange", () => {
  void show().then(() => main.focus({ preventScroll: true }));
  scrollTo(0, 0);
});
void show();
