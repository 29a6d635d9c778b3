// What every test of the explorer needs: a browser, a page that fails on errors of its own, and pictures to look at.
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const kArtifacts = fileURLToPath(new URL("artifacts/", import.meta.url));

export async function launch() {
  await mkdir(kArtifacts, { recursive: true });
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
}

/** A fresh page with its own storage. What the page says of itself and asks of other machines is kept in `said`. */
export async function open(browser, url, { width = 1280, height = 860, dark = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const said = [];
  page.on("pageerror", (error) => said.push(error.message));
  page.on("console", (message) => {
    // Refused requests are the tests' own doing.
    if (message.type() === "error" && !/Failed to load resource|net::ERR/.test(message.text()))
      said.push(message.text());
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) said.push(`asked ${request.url()}`);
  });
  return Object.assign(page, { said });
}

export const picture = (page, name, fullPage = true) =>
  page.screenshot({ path: `${kArtifacts}${name}.png`, fullPage, animations: "disabled" });

/** Scrolls an element from end to end and back in steps of a frame each, and the page where it is "html". Gives the
 * times between frames in ms: the browser's own rhythm is 16.7. */
export async function scrolled(page, selector, steps = 120) {
  const times = await page
    .locator(selector)
    .first()
    .evaluate(async (box, steps) => {
      box.scrollIntoView();
      const frame = () => new Promise(requestAnimationFrame);
      const [down, right] = [box.scrollHeight - box.clientHeight, box.scrollWidth - box.clientWidth];
      await frame();
      const times = [];
      let last = await frame();
      for (let i = 1; i <= steps; ++i) {
        const share = 1 - Math.abs(1 - (2 * i) / steps);
        box.scrollTop = share * down;
        box.scrollLeft = share * right;
        const now = await frame();
        times.push(now - last);
        last = now;
      }
      return times.sort((a, b) => a - b);
    }, steps);
  const median = times[times.length >> 1];
  const worst = times.at(-1);
  return { median, worst, toString: () => `median frame ${median.toFixed(1)} ms, worst ${worst.toFixed(1)} ms` };
}

/** Nothing sticks out to the right. */
export const overflow = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
