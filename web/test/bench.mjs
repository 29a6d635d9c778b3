// How fast attention opens and scrolls: `npm run bench -- look.html http://127.0.0.1:8080#/attention …`, files of
// `attend attention` and views of a server. Of a server, TEXT is typed, and MODEL chosen.
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { launch, open, scrolled } from "./browser.mjs";

const kPageModes = { "heat map": "heat", lines: "lines", text: "text", "all heads": "grid" };

async function benchPage(browser, file) {
  const address = pathToFileURL(file).href;
  for (const [name, mode] of Object.entries(kPageModes)) {
    const page = await open(browser, address);
    await page.goto(`${address}#mode=${mode}`);
    await page.waitForFunction(() => document.documentElement.dataset.ready);
    await page.waitForTimeout(300);
    const ready = await page.evaluate(() => document.documentElement.dataset.ready);
    const box = ["heat", "lines"].includes(mode) ? ".viewport" : "html";
    console.log(`${file}, ${name}: open after ${ready} ms; scrolling: ${await scrolled(page, box)}`);
    if (mode === "heat") {
      for (let i = 0; i < 5; ++i) await page.getByRole("button", { name: "Larger cells" }).click();
      console.log(`${file}, ${name}, enlarged: scrolling: ${await scrolled(page, box)}`);
    }
    if (mode === "lines") {
      await page.locator(".head").nth(1).click();
      console.log(`${file}, ${name}, one head: scrolling: ${await scrolled(page, box)}`);
    }
    await page.context().close();
  }
}

async function benchServer(browser, url) {
  const page = await open(browser, url);
  await page.addInitScript(
    ({ text, model }) => {
      if (text) sessionStorage.setItem("attend.attention.text", text);
      if (model) sessionStorage.setItem("attend.model.attention", model);
    },
    { text: process.env.TEXT, model: process.env.MODEL },
  );
  const answers = [];
  page.on("requestfinished", async (request) => {
    if (!request.url().endsWith("/attention")) return;
    const { requestBodySize, responseBodySize } = await request.sizes();
    answers.push({ ...request.timing(), requestBodySize, responseBodySize });
  });
  const began = Date.now();
  const since = () => `${Date.now() - began} ms`;
  await page.goto(url);
  await page.locator(".panel .tokens .token").nth(1).waitFor();
  const shown = since();
  await page.waitForFunction(() => {
    const all = document.querySelectorAll(".thumbnails button");
    return all.length > 0 && [...all].every((button) => button.title);
  });
  const tokens = await page.locator(".panel .tokens .token").count();
  console.log(`${url}: ${tokens} tokens after ${shown}, all heads after ${since()}`);
  for (const { responseStart, responseEnd, responseBodySize } of answers)
    console.log(
      `  an answer of ${(responseBodySize / 1e6).toFixed(1)} MB began after ${responseStart.toFixed(0)} ms, ended after ${responseEnd.toFixed(0)} ms`,
    );
  for (const [what, box] of Object.entries({ lines: ".viewport >> nth=0", "heat map": ".viewport >> nth=1", page: "html" }))
    console.log(`${url}, ${what}: scrolling: ${await scrolled(page, box)}`);
  const layer = page.getByLabel("Layer", { exact: true });
  const most = Number(await layer.getAttribute("max"));
  const asked = Date.now();
  await layer.fill(String(most - 1));
  await page.locator(".note", { hasText: `layer ${most - 1},` }).waitFor();
  console.log(`${url}: another layer after ${Date.now() - asked} ms`);
  await page.context().close();
}

const browser = await launch();
try {
  for (const what of process.argv.slice(2))
    await (existsSync(what) ? benchPage(browser, what) : benchServer(browser, what));
} finally {
  await browser.close();
}
