// A line that tells what a view is doing and what went wrong. Screen readers read it aloud.
import { ApiError, CutShort, isAbort } from "./api";
import { h } from "./dom";

export class Status {
  readonly element = h("div", { class: "status", role: "status", "aria-live": "polite" });
  private timer = 0;

  /** Appears only if the work takes a while: live views would flicker. */
  busy(text: string): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.show("busy", h("span", { class: "spinner" }), text), 250);
  }

  note(text: string): void {
    if (text) this.show("note", text);
    else this.clear();
  }

  /** Shows the message, and a button to try again. A cancelled request is not an error. */
  error(error: unknown, retry?: () => void): void {
    if (isAbort(error)) return;
    const said = error instanceof Error ? error.message : String(error);
    const message = /[.!?…]$/.test(said) ? said : `${said}.`;
    const known = error instanceof ApiError || error instanceof CutShort;
    if (!known) console.error(error);
    const code = error instanceof ApiError && error.code ? h("code", {}, error.code) : null;
    const wait = error instanceof ApiError && error.retryAfter !== null ? ` Try again in ${error.retryAfter} s.` : "";
    const button = retry ? h("button", { class: "quiet", onclick: retry }, "Try again") : null;
    this.show(error instanceof CutShort ? "warning" : "error", h("span", {}, message, wait), code, button);
  }

  clear(): void {
    clearTimeout(this.timer);
    this.element.className = "status";
    this.element.replaceChildren();
  }

  private show(kind: string, ...content: (Node | string | null)[]): void {
    clearTimeout(this.timer);
    this.element.className = `status ${kind}`;
    this.element.replaceChildren(...content.filter((part): part is Node | string => part !== null));
  }
}
