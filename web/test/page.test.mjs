// The page that `attend attention --output look.html` writes, in a browser: needs the program (ATTEND, or as
// `make build` leaves it).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch, open, overflow, picture } from "./browser.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = process.env.ATTEND ?? join(root, "build/release/attend");
const options = { skip: existsSync(program) ? false : `there is no ${program}` };
const bert = join(root, "tests/tasks/fixtures/bert_labels");
const marian = join(root, "tests/models/fixtures/marian_tokenizer");
let browser, folder, page;

before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), "attend-page-"));
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});
afterEach(async () => {
  const said = page?.said ?? [];
  await page?.context().close();
  page = undefined;
  assert.deepEqual(said, []);
});

async function visit(model, texts, flags = [], how = {}, hash = "") {
  const file = join(folder, "look.html");
  execFileSync(program, ["attention", "--model", model, ...texts, "--output", file, ...flags], { stdio: "pipe" });
  const address = pathToFileURL(file).href;
  page = await open(browser, address, how);
  await page.goto(address + hash);
}
const status = () => page.locator("[role=status]").innerText();
const modes = () => page.locator("[role=tab]").allInnerTexts();

test("every kind of picture of a translation, light, dark and at a phone's width", options, async () => {
  for (const [name, how] of Object.entries({
    light: {},
    dark: { dark: true },
    phone: { width: 390, height: 844 },
  })) {
    await page?.context().close();
    await visit(marian, ["Nessuno scrive la lettera."], [], how);
    assert.deepEqual(await modes(), ["Heat map", "Lines", "Text", "All heads", "Statistics", "Alignment"]);
    for (const mode of await modes()) {
      await page.getByRole("tab", { name: mode }).click();
      await page.waitForTimeout(60);
      assert.ok((await overflow(page)) <= 0, `${mode} overflows`);
      await picture(page, `page-${mode.toLowerCase().replace(" ", "-")}-${name}`);
    }
    assert.deepEqual(page.said, []);
  }
});

test("a window that changes its size leaves no picture behind", options, async () => {
  await visit(marian, ["Nessuno scrive la lettera."]);
  for (const mode of await modes()) await page.getByRole("tab", { name: mode }).click();
  await page.getByRole("tab", { name: "Lines" }).click();
  await page.setViewportSize({ width: 700, height: 600 });
  await page.waitForTimeout(100);
  const width = await page.locator(".viewport").evaluate((box) => box.clientWidth);
  assert.ok(width > 500 && width < 700, `${width}`);
});

test("layers, their mean and the roll-out, heads and words are chosen by mouse and keyboard", options, async () => {
  await visit(bert, ["the river of the money"], ["--average-layers"]);
  assert.match(await status(), /^Self attention, mean of 2 layers/);
  await page.selectOption("#choose-Layer", "rollout");
  assert.match(await status(), /roll-out of 2 layers/);
  assert.match(page.url(), /layer=rollout/);
  await page.reload();
  assert.match(await status(), /roll-out of 2 layers/);
  await page.keyboard.press("]");
  assert.match(await status(), /layer 0, mean of 2 heads/);
  await page.keyboard.press(".");
  assert.match(await status(), /layer 0, head 0/);
  await page.getByRole("button", { name: "Head 1" }).click({ modifiers: ["Shift"] });
  assert.match(await status(), /layer 0, mean of 2 heads/); // both are all
  await page.locator(".viewport").focus();
  for (const key of ["ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  assert.match(await status(), /^the attends to \[CLS\] with a weight of .* %; most to /);
  await page.keyboard.press("w");
  assert.match(page.url(), /words=1/);
});

test("lines tell who attends to a token, and arrow keys move through the small pictures", options, async () => {
  await visit(bert, ["the river of the money"], [], {}, "#mode=lines");
  await page.locator(".viewport").focus();
  await page.keyboard.press("ArrowDown");
  assert.match(await status(), /^\[CLS\] attends to /);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  assert.match(await status(), /^the is attended to by /);
  await page.getByRole("tab", { name: "All heads" }).click();
  assert.equal(await page.locator('.thumbnails button[tabindex="0"]').count(), 1);
  await page.locator('.thumbnails button[tabindex="0"]').focus();
  for (const key of ["ArrowUp", "ArrowRight", "Enter"]) await page.keyboard.press(key);
  assert.match(page.url(), /layer=0&mode=heat&heads=1&/);
});

test("hypotheses are told apart, and compared at the same head", options, async () => {
  await visit(marian, ["Nessuno scrive."], ["--beam", "3", "--nbest", "2"], {}, "#view=decoder&heads=3");
  assert.match(await status(), /^Decoder attention, layer 0, head 3/);
  const names = await page.locator("#choose-Text option").allInnerTexts();
  assert.notEqual(names[0].slice(3), names[1].slice(3));
  await page.getByRole("button", { name: "Next text" }).click();
  assert.match(await status(), /^Decoder attention, layer 0, head 3/);
  await page.locator(".given", { hasText: "score" }).waitFor();
});

test("two texts are turned over, and what they say stays text", options, async () => {
  await visit(bert, ["the <b>river</b>", "of money"]);
  await page.getByRole("button", { name: "Next text" }).click();
  await page.locator(".given", { hasText: "of money" }).waitFor();
  await page.getByRole("button", { name: "Previous text" }).click();
  assert.equal(await page.locator(".given").innerText(), "the <b>river</b>");
});

test("as many sentences as hops are no self-attention", options, async () => {
  const line = (n, who, where) => `${n} ${who} went to the ${where}.\n${n + 1} Where is ${who}?\t${where}\t${n}\n`;
  const story = line(1, "Mary", "garden") + line(3, "John", "kitchen");
  writeFileSync(join(folder, "qa1_moves_train.txt"), story.repeat(20));
  const model = join(folder, "stories");
  const flags = ["--tasks", "1", "--joint", "--hops", "2", "--epochs", "1", "--linear-epochs", "0"];
  execFileSync(program, ["train", "memory", "--data", folder, ...flags, "--output", model], { stdio: "pipe" });
  await visit(model, ["Mary went to the garden. John went to the kitchen. Where is John?"]);
  assert.deepEqual(await modes(), ["Heat map", "Lines", "Text"]);
  assert.match(await status(), /^How much each hop attends to each sentence\. Point at a cell/);
  await picture(page, "page-memory");
  await page.getByRole("tab", { name: "Text" }).click();
  assert.deepEqual(await page.locator("#panel h2").allInnerTexts(), ["Hops", "Sentences"]);
  assert.deepEqual(await page.locator(".token").allInnerTexts(), [
    "hop 1",
    "hop 2",
    "Mary went to the garden.",
    "John went to the kitchen.",
  ]);
});
