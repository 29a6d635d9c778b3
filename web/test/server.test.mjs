// The explorer against a real server: ATTEND_URL=http://127.0.0.1:8080/ npm test. What its models can do is tried.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { launch, open, picture, scrolled } from "./browser.mjs";

const url = process.env.ATTEND_URL && new URL("/", process.env.ATTEND_URL).href;
const options = { skip: url ? false : "ATTEND_URL is not set" };
let browser, models, page;

before(async () => {
  if (!url) return;
  browser = await launch();
  models = (await (await fetch(`${url}v1/models`)).json()).data;
});
after(() => browser?.close());
afterEach(async () => {
  const said = page?.said ?? [];
  await page?.context().close();
  page = undefined;
  assert.deepEqual(said, []);
});

const able = (capability) => models.filter(({ capabilities }) => capabilities.includes(capability));
const visit = async (view, remembered = {}) => {
  page = await open(browser, url);
  await page.addInitScript((values) => {
    for (const [name, value] of Object.entries(values)) sessionStorage.setItem(`attend.${name}`, value);
  }, remembered);
  await page.goto(`${url}#/${view}`);
};
const noError = async () => assert.deepEqual(await page.locator(".status.error, .status.warning").allInnerTexts(), []);

test("attention of every model that shows it", options, async (t) => {
  if (!able("attention").length) return t.skip("no model for it");
  for (const model of able("attention")) {
    await page?.context().close();
    await visit("attention", { "model.attention": model.id });
    await page.locator(".panel .tokens .token").nth(1).waitFor();
    await page.locator(".panel .tokens .token").nth(1).hover();
    await page.locator(".readout", { hasText: "attends to" }).waitFor();
    await page.waitForFunction(
      (n) => document.querySelectorAll(".thumbnails button[title]").length === n,
      model.layers * model.heads,
    );
    await noError();
    await picture(page, `server-attention-${model.id}`);
  }
});

test("a text of 512 tokens, or as many as the model can see, opens soon", options, async (t) => {
  for (const model of able("attention").filter(({ context }) => context)) {
    await page?.context().close();
    const count = Math.min(model.context, 512);
    const text = "the river runs along the old walls of the town and ".repeat(Math.ceil(count / 11)).trim();
    const began = Date.now();
    await visit("attention", { "model.attention": model.id, "attention.text": text });
    const tokens = page.locator(".panel .tokens .token");
    await tokens.nth(Math.min(count, 300) - 4).waitFor();
    const shown = Date.now() - began;
    const heads = model.layers * model.heads;
    await page.waitForFunction((n) => document.querySelectorAll(".thumbnails button[title]").length === n, heads);
    const all = Date.now() - began;
    t.diagnostic(`${model.id}: ${await tokens.count()} tokens after ${shown} ms, all ${heads} heads after ${all} ms`);
    for (const [what, box] of [["lines", ".viewport >> nth=0"], ["page", "html"]])
      t.diagnostic(`${model.id}: scrolling the ${what}: ${await scrolled(page, box)}`);
    await noError();
  }
});

test("translation with alignments", options, async (t) => {
  if (!able("translate").length) return t.skip("no model for it");
  await visit("translate");
  await page.locator(".alignment path").first().waitFor({ state: "attached" });
  await page.locator(".alignment .tokens:nth-child(2) .token").first().hover();
  await page.locator(".readout", { hasText: /attends to|is aligned with/ }).waitFor();
  await page.waitForTimeout(500);
  await noError();
  await picture(page, "server-translate");
});

test("translation between the languages of a multilingual model", options, async (t) => {
  const many = able("translate").find(({ languages }) => languages?.length);
  if (!many) return t.skip("no model for it");
  await visit("translate", { "model.translate": many.id });
  await page.getByLabel("From", { exact: true }).waitFor();
  await page.locator(".alignment path").first().waitFor({ state: "attached" });
  await page.waitForTimeout(800);
  await noError();
  await picture(page, "server-languages");
});

test("summaries with the weights of the sentences", options, async (t) => {
  const own = able("summarize").filter((model) => !model.source_language && !model.languages?.length);
  if (!own.length) return t.skip("no model for it");
  await visit("summarize");
  await page.locator(".document mark").first().waitFor();
  await noError();
  await picture(page, "server-summarize");
});

test("generation with probabilities", options, async (t) => {
  if (!able("generate").length) return t.skip("no model for it");
  await visit("generate");
  await page.getByRole("slider", { name: "Tokens" }).fill("30");
  await page.click("button.primary");
  await page.locator(".status.note").waitFor();
  const tokens = page.locator('[aria-label="Generated tokens"] .token');
  assert.ok((await tokens.count()) > 0);
  await page.waitForTimeout(800);
  await tokens.nth(Math.min(3, (await tokens.count()) - 1)).hover();
  await page.locator("text=Most likely tokens here").waitFor();
  await noError();
  await picture(page, "server-generate");
});

test("comparison", options, async (t) => {
  if (!able("embed").length) return t.skip("no model for it");
  await visit("compare");
  await page.locator(".card").first().waitFor();
  await noError();
  await picture(page, "server-compare");
});

test("questions about a story", options, async (t) => {
  for (const { id, hops } of able("answer")) {
    await page?.context().close();
    await visit("memory", { "model.memory": id });
    await page.locator(".bars li").first().waitFor();
    assert.equal(await page.locator(".hops").isVisible(), hops > 0);
    await noError();
    await picture(page, `server-memory-${id}`);
  }
  if (!able("answer").length) t.skip("no model for it");
});

test("lessons", options, async () => {
  await visit("learn");
  await page.locator(".readout", { hasText: "The root mean square error" }).waitFor();
  await page.waitForTimeout(300);
  await noError();
  await picture(page, "server-learn");
});
