// The explorer in a browser, against the mock, which misbehaves on demand.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { launch, open, overflow, picture, scrolled } from "./browser.mjs";
import { startMock } from "./mock.mjs";

let browser, mock, page;
before(async () => {
  browser = await launch();
  mock = await startMock();
});
after(async () => {
  await browser?.close();
  await mock?.close();
});
beforeEach(() => {
  mock.mode = "";
  mock.requests.length = 0;
});
afterEach(async () => {
  const said = page?.said ?? [];
  await page?.context().close();
  page = undefined;
  assert.deepEqual(said, []);
});

const visit = async (view, options) => {
  page = await open(browser, mock.url, options);
  await page.goto(`${mock.url}#/${view}`);
};
const kTokens = ".panel .tokens .token";
const kWritten = '[aria-label="Generated tokens"] .token';
const readout = (n = 0) => page.locator(".readout").nth(n).innerText();
const painted = (selector) =>
  page
    .locator(selector)
    .first()
    .evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    });

test("attention shows a text in lines, heat map and grid, and points at one token in all", async () => {
  await visit("attention");
  await page.hover(`${kTokens}:has-text("it")`);
  assert.match(await readout(), /^it attends to /);
  await page.waitForFunction(() => document.querySelectorAll(".thumbnails button[title]").length === 144);
  await page.locator(".thumbnails").scrollIntoViewIfNeeded();
  await page.waitForTimeout(100);
  for (const canvas of [".viewport canvas >> nth=0", ".viewport canvas >> nth=1", ".thumbnails canvas"])
    assert.ok((await painted(canvas)) > 10, canvas);
  await picture(page, "attention");
});

test("a head of the grid shows alone, with its own numbers", async () => {
  await visit("attention");
  await page.click('[aria-label^="Layer 3, head 5"]');
  await page.locator(".note", { hasText: "layer 3, head 5" }).waitFor();
  assert.equal(await page.locator('.head[aria-pressed="true"]').count(), 1);
  await page.keyboard.down("Shift");
  await page.click('[aria-label^="Layer 3, head 6"]');
  await page.keyboard.up("Shift");
  await page.locator(".note", { hasText: "layer 3, mean of 2 heads" }).waitFor();
  await page.hover(`${kTokens}:has-text("tired")`);
  await picture(page, "attention-heads");
});

test("typing is answered live, words are joined, special tokens go", async () => {
  await visit("attention");
  await page.fill("textarea >> nth=0", "Interpretations multiply unboundedly.");
  await page.locator(kTokens, { hasText: "##pretations" }).waitFor();
  await page.getByRole("radio", { name: "Words", exact: true }).check();
  await page.locator(kTokens, { hasText: "Interpretations" }).waitFor();
  await page.getByLabel("Special tokens", { exact: true }).uncheck();
  assert.equal(await page.locator(kTokens, { hasText: "[CLS]" }).count(), 0);
  await page.hover(`${kTokens}:has-text("multiply")`);
  await picture(page, "attention-words");
});

test("a pair is sent as a pair", async () => {
  await visit("attention");
  await page.fill("textarea >> nth=1", "It slept.");
  await page.locator(kTokens, { hasText: "slept" }).waitFor();
  assert.equal(mock.requests.at(-1).pair, "It slept.");
});

test("a translator has three views", async () => {
  await visit("attention");
  await page.selectOption("select", "it-en");
  await page.fill("textarea >> nth=0", "Non ho mai letto il libro nuovo di Marco.");
  await page.locator(kTokens, { hasText: "book" }).waitFor();
  assert.deepEqual(await page.locator(".segmented").first().locator("span").allInnerTexts(), [
    "Encoder",
    "Decoder",
    "Cross",
  ]);
  await page.hover(`${kTokens}:has-text("book")`);
  assert.match(await readout(), /^book attends to /);
  await picture(page, "attention-cross");
  await page.getByRole("radio", { name: "Encoder" }).check();
  await page.locator(".note", { hasText: "layer 2" }).waitFor(); // the last, as of all that translate
});

test("512 tokens of 12 layers with 12 heads open soon and scroll", async () => {
  const text = Array.from(
    { length: 640 },
    (_, i) => ["the", "river", "runs", "along", "old", "town", "walls", "and"][(i * 7 + (i >> 3)) % 8],
  ).join(" ");
  // The mock makes up its weights slowly: they are ready before the clock starts.
  for (const some of [
    { layers: [0], top_k: 24 },
    { layers: Array.from({ length: 12 }, (_, layer) => layer), top_k: 3 },
  ])
    await fetch(`${mock.url}v1/attention`, {
      method: "POST",
      body: JSON.stringify({ model: "bert", input: text, long: "truncate", ...some }),
    });
  page = await open(browser, mock.url);
  await page.addInitScript((text) => sessionStorage.setItem("attend.attention.text", text), text);
  const began = Date.now();
  await page.goto(`${mock.url}#/attention`);
  await page.waitForFunction(() => document.querySelectorAll(".tokens .token").length >= 512);
  const shown = Date.now() - began;
  await page.waitForFunction(() => document.querySelectorAll(".thumbnails button[title]").length === 144);
  const all = Date.now() - began;
  const frames = await scrolled(page, ".viewport");
  console.log(
    `512 tokens: text, lines and heat map after ${shown} ms, all 144 heads after ${all} ms; scrolling: ${frames}`,
  );
  // The bar is 2 s on a quiet machine; the tests also pass on one that compiles meanwhile.
  assert.ok(shown < 10_000, `${shown} ms`);
  assert.ok(all < 20_000, `${all} ms`);
  assert.ok(frames.median < 500, String(frames));
  await page.locator(".status", { hasText: "tokens were cut" }).waitFor();
  await page.evaluate(() => scrollTo(0, 0));
  await page.hover(".viewport >> nth=1", { position: { x: 150, y: 150 } });
  assert.match(await readout(), /with a weight of/);
  await picture(page, "attention-512");
});

test("a layer that was not loaded is loaded when it is chosen", async () => {
  await visit("attention");
  await page.fill("textarea >> nth=0", "many words here ".repeat(60));
  await page.waitForFunction(() => document.querySelectorAll(".tokens .token").length > 150);
  await page.getByLabel("Layer", { exact: true }).fill("7");
  await page.locator(".note", { hasText: "layer 7, mean" }).waitFor();
  assert.ok(mock.requests.some(({ layers, top_k }) => layers?.[0] === 7 && top_k));
});

test("translate draws lines between the words and lights those of one", async () => {
  await visit("translate");
  await page.locator(".translation", { hasText: "I have never read Marco's new book." }).waitFor();
  await page.locator(".alignment path").nth(6).waitFor({ state: "attached" });
  await page.locator("text=Attention of layer").waitFor();
  await page.hover('.alignment .token:has-text("Marco\'s")');
  await page.locator(".alignment path.lit").waitFor({ state: "attached" });
  assert.equal(await page.locator(".alignment path.lit").count(), 1);
  assert.match(await readout(), /^Marco's attends to Marco\. \d+ %/);
  await picture(page, "translate");
});

test("a multilingual model is asked for the chosen languages", async () => {
  await visit("translate");
  assert.equal(await page.getByLabel("To", { exact: true }).count(), 0, "it-en has no choice");
  await page.selectOption("select >> nth=0", "many");
  const from = page.getByLabel("From", { exact: true });
  const to = page.getByLabel("To", { exact: true });
  assert.equal(await from.inputValue(), "auto");
  assert.equal(await to.inputValue(), "deu_Latn");
  assert.equal(await to.locator("option[value=zho_Hant]").innerText(), "Traditional Chinese");
  await page.locator("text=Attention of layer").waitFor();
  const last = (path) => mock.requests.filter((request) => request.path === path).at(-1);
  assert.equal(last("/v1/attention").source_lang, "eng_Latn", "as the server has detected");
  await from.selectOption("fra_Latn");
  await to.selectOption("ace_Arab");
  await page.waitForFunction(() => document.querySelector(".translation").lang === "ace-Arab");
  await page.locator("text=Attention of layer").waitFor();
  assert.deepEqual([last("/translate").source, last("/translate").target], ["fra_Latn", "ace_Arab"]);
  await page.click("nav >> text=Attention");
  await page.selectOption("select >> nth=0", "many");
  await page.locator(kTokens).first().waitFor();
  assert.deepEqual([last("/v1/attention").source_lang, last("/v1/attention").target_lang], ["eng_Latn", "deu_Latn"]);
  await page.click("nav >> text=Translate");
  assert.equal(await page.getByLabel("From", { exact: true }).inputValue(), "fra_Latn", "it is remembered");
  await picture(page, "translate-languages");
});

test("summarize shades the sentences of the document by their weights", async () => {
  await visit("summarize");
  await page.locator(".translation", { hasText: "Marco is a small program" }).waitFor();
  assert.deepEqual(await page.locator("select >> nth=0").locator("option").allInnerTexts(), ["t5"]);
  assert.equal(await page.locator(".document mark").count(), 5);
  const shade = (n) => page.locator(".document mark").nth(n).evaluate((mark) => getComputedStyle(mark).backgroundColor);
  assert.notEqual(await shade(0), await shade(1));
  assert.equal(await shade(1), await shade(2));
  assert.match(await page.locator(".bars li").first().innerText(), /Marco is a small[^]*60 %/);
  await picture(page, "summarize");
  await page.fill("textarea", "😀 One.\nTwo 👍🏽 here. ".repeat(200));
  await page.locator(".note", { hasText: "read in 3 parts" }).waitFor();
  assert.equal(await page.locator(".document mark >> nth=1").innerText(), "Two 👍🏽 here.");
  assert.equal(await page.locator(".document").innerText(), await page.inputValue("textarea"));
  await page.getByRole("slider", { name: "At most" }).fill("4");
  mock.requests.length = 0;
  await page.fill("textarea", "One two three four five six. Seven.");
  await page.locator(".note", { hasText: "cut at its maximum length" }).waitFor();
  assert.equal(mock.requests.at(-1).max_tokens, 4);
  await page.fill("textarea", " ");
  await page.locator(".status", { hasText: "Type a text above." }).waitFor();
  assert.equal(await page.locator(".document").isVisible(), false);
});

test("generate streams tokens with their probability, and the attention that they were predicted from", async () => {
  await visit("generate");
  await page.click("button.primary");
  await page.locator(kWritten).nth(59).waitFor();
  await page.locator(".status", { hasText: "Ended at the requested number" }).waitFor();
  await page.locator("text=Attention of layer").waitFor();
  await page.hover(`${kWritten} >> nth=5`);
  await page.locator("text=Most likely tokens here").waitFor();
  await page.locator("text=Predicted from").waitFor();
  assert.ok((await page.locator(".detail .bars li").count()) >= 5);
  assert.match(await page.locator(`${kWritten} >> nth=5`).getAttribute("aria-label"), / %$/);
  await picture(page, "generate");
});

test("the length follows the model's context", async () => {
  await visit("generate");
  await page.selectOption("select", "tiny");
  assert.equal(await page.getByRole("slider", { name: "Tokens" }).getAttribute("max"), "63");
  await page.click("button.primary"); // with the defaults
  await page
    .locator(".status", { hasText: "Ended after 57 tokens: the model's context of 64 tokens is full." })
    .waitFor();
  assert.equal(await page.locator(kWritten).count(), 57);
  assert.equal(await page.locator("text=Attention of layer").count(), 0); // there is one layer
  await page.fill("textarea", "word ".repeat(64));
  await page.click("button.primary");
  await page.locator(".status.error", { hasText: "The prompt has 64 tokens and leaves no room" }).waitFor();
  assert.equal(await page.locator(kWritten).count(), 0);
});

test("only what a model takes is offered", async () => {
  await visit("attention");
  await page.locator(kTokens).first().waitFor();
  assert.ok(await page.getByLabel("Second text").isVisible());
  assert.ok(await page.getByLabel("Layer", { exact: true }).isVisible());
  await page.selectOption("select", "tiny");
  await page.locator(".note", { hasText: "layer 0, head 0" }).waitFor();
  assert.equal(await page.getByLabel("Second text").isVisible(), false);
  assert.equal(await page.getByLabel("Layer", { exact: true }).count(), 0);
  assert.equal(await page.locator(".head").count(), 0);
  assert.equal(await page.getByLabel("Special tokens", { exact: true }).count(), 0);
});

test("examples are in the language of the model until the user types", async () => {
  await visit("attention");
  await page.selectOption("select", "it-en");
  await page.locator(kTokens, { hasText: "libro" }).waitFor();
  await page.selectOption("select", "bert");
  await page.locator(kTokens, { hasText: "animal" }).waitFor();
  await page.fill("textarea >> nth=0", "My own text.");
  await page.locator(kTokens, { hasText: "own" }).waitFor();
  await page.selectOption("select", "it-en");
  await page.locator(kTokens, { hasText: "own" }).first().waitFor();
});

test("after an error no old picture stays", async () => {
  await visit("attention");
  await page.locator(kTokens, { hasText: "animal" }).waitFor();
  mock.mode = "busy";
  await page.fill("textarea >> nth=0", "Something else.");
  await page.locator(".status.error").waitFor();
  assert.equal(await page.locator(".heatmap").isVisible(), false);
  await page.goto(`${mock.url}#/translate`);
  mock.mode = "";
  await page.reload();
  await page.locator(".translation", { hasText: "new book" }).waitFor();
  mock.mode = "busy";
  await page.fill("textarea", "Non ho letto.");
  await page.locator(".status.error").waitFor();
  assert.equal(await page.locator(".translation").innerText(), "");
  assert.equal(await page.locator(".alignment .token").count(), 0);
});

test("a heat map has a colour bar, and its text as a title", async () => {
  await visit("attention");
  await page.locator(".heatmap .sentence", { hasText: "The animal did not cross" }).waitFor();
  const numbers = await page.locator(".colour-bar span").allInnerTexts();
  assert.equal(numbers[0], "0");
  assert.match(numbers[2], /^(≥ )?0\.\d+$/);
  await page.click("text=What the numbers mean");
  await page.locator("dd", { hasText: "0 if all weight is on one token" }).waitFor();
});

test("generation stops when asked, and keeps what it has", async () => {
  await visit("generate");
  mock.mode = "drip";
  await page.click("button.primary");
  await page.locator(kWritten).nth(5).waitFor();
  await page.click("text=Stop");
  await page.locator(".status", { hasText: /Stopped after \d+ tokens/ }).waitFor();
  const count = await page.locator(kWritten).count();
  assert.ok(count >= 6 && count < 60);
  await page.locator("button.primary").waitFor();
});

for (const mode of ["cut", "ends"])
  test(`a stream cut short is shown as such (${mode})`, async () => {
    await visit("generate");
    mock.mode = mode;
    await page.click("button.primary");
    await page.locator(".status.warning", { hasText: "cut short" }).waitFor();
    const count = await page.locator(kWritten).count(); // what was on its way may be lost
    assert.ok(count > 0 && count <= 9);
    await page.locator(".cut").waitFor();
    await picture(page, `generate-${mode}`);
  });

test("compare finds the word that both sentences have", async () => {
  await visit("compare");
  await page.locator(".card", { hasText: "“bank” and “bank”" }).waitFor();
  assert.match(await readout(0), /^bank attends to /);
  await page.click('[aria-label^="Words of sentence 2"] .token:has-text("money")');
  await page.locator(".card", { hasText: "“bank” and “money”" }).waitFor();
  await picture(page, "compare");
});

test("memory answers while one types, and shows where each hop looked", async () => {
  await visit("memory");
  await page.locator(".translation", { hasText: "garden 80 %" }).waitFor();
  assert.deepEqual(await page.locator(".hops thead th").allInnerTexts(), ["Sentence", "Hop 1", "Hop 2", "Hop 3"]);
  assert.equal(await page.locator(".hops tbody tr").count(), 5);
  assert.equal(await page.locator(".hops .most").count(), 3);
  const milk = page.locator(".hops tr", { hasText: "took the milk" });
  assert.equal(await milk.locator("td").first().getAttribute("class"), "most");
  assert.ok(Number(await milk.locator("td").first().innerText()) > 0.5);
  assert.equal(await page.locator(".bars li").count(), 5);
  await picture(page, "memory");
  await page.getByLabel("Story").fill("Mary took the milk there.\n\n  Mary went to the kitchen.\n");
  await page.locator(".translation", { hasText: "kitchen" }).waitFor();
  assert.equal(await page.locator(".hops tbody tr").count(), 2); // lines without a sentence do not count
  await page.getByLabel("Question").fill("Where is Zaphod?");
  await page.locator(".status.note", { hasText: "does not know one word" }).waitFor();
  assert.deepEqual(mock.requests.at(-1).story, ["Mary took the milk there.", "Mary went to the kitchen."]);
  await page.reload(); // what was typed stays until the tab is closed
  await page.locator(".status.note", { hasText: "does not know one word" }).waitFor();
});

test("memory offers the examples that a model can answer, and says if it has no hops", async () => {
  await visit("memory");
  const examples = page.locator(".examples button");
  await examples.first().waitFor();
  assert.deepEqual(await examples.allInnerTexts(), ["Where is the milk?", "Where is Mary?"]);
  await page.selectOption("select", "lstm");
  await page.locator(".note", { hasText: "This model has no hops" }).waitFor();
  assert.equal(await page.locator(".hops").isVisible(), false);
  await page.locator(".translation", { hasText: "garden" }).waitFor();
  await page.click("text=Is John in the bedroom?");
  assert.match(await page.getByLabel("Story").inputValue(), /^Mary got the milk/);
  assert.equal(await page.getByLabel("Question").inputValue(), "Is John in the bedroom?");
  await page.selectOption("select", "stories"); // what the user chose stays
  await page.locator(".hops").waitFor();
  assert.equal(await page.getByLabel("Question").inputValue(), "Is John in the bedroom?");
});

test("memory marks sentences that the model does not see", async () => {
  await visit("memory");
  await page.getByLabel("Story").fill("Mary went to the garden.\n".repeat(14));
  await page.locator(".status.note", { hasText: "the first 2 sentences were left out" }).waitFor();
  assert.deepEqual(await page.locator(".hops .unseen td").allInnerTexts(), Array(6).fill("–"));
});

test("memory leaves no old answer after an error or without a question", async () => {
  await visit("memory");
  await page.locator(".hops").waitFor();
  mock.mode = "busy";
  await page.getByLabel("Question").fill("Where is Mary?");
  await page.locator(".status.error").waitFor();
  assert.equal(await page.locator(".hops").isVisible(), false);
  mock.mode = "";
  await page.click("text=Try again >> nth=-1");
  await page.locator(".hops").waitFor();
  await page.getByLabel("Question").fill(" ");
  await page.locator(".status.note", { hasText: "Type a question" }).waitFor();
  assert.equal(await page.locator(".hops").isVisible(), false);
  await page.getByLabel("Story").fill("");
  await page.locator(".status.note", { hasText: "Type a story" }).waitFor();
});

test("there is a link to memory only if a model answers questions about stories", async () => {
  const link = () => page.locator("nav a", { hasText: "Memory" });
  await visit("attention");
  await link().waitFor();
  await page.context().close();
  mock.mode = "no stories";
  await visit("attention");
  await page.locator(kTokens).first().waitFor();
  assert.equal(await link().isVisible(), false);
  await page.goto(`${mock.url}#/memory`);
  await page.locator("text=No model here can answer questions about a story").waitFor();
});

test("as many sentences as hops are no self-attention", async () => {
  await visit("attention");
  await page.selectOption("select", "stories");
  const story = "Sandra went to the office. Mary took the milk. Mary went to the garden.";
  await page.fill("textarea >> nth=0", `${story} Where is the milk?`);
  await page.locator(kTokens, { hasText: "took the milk." }).waitFor();
  assert.equal(await page.locator(kTokens, { hasText: /^hop \d$/ }).count(), 3);
  await page.hover(`${kTokens}:has-text("hop 1")`);
  assert.match(await readout(), /^hop 1 attends to Mary took the milk\. \d+ %/);
});

test("learn draws pooling and positions, and follows the sliders", async () => {
  await visit("learn");
  await page.locator(".readout", { hasText: "The root mean square error" }).waitFor();
  await page.locator("input[type=range]").first().fill("2");
  await page.locator(".readout", { hasText: "Width 2.00" }).waitFor();
  await page.hover(".plot canvas >> nth=0", { position: { x: 300, y: 100 } });
  assert.match(await readout(), /^At x = /);
  for (const canvas of [".plot canvas >> nth=0", ".flat >> nth=0", ".flat >> nth=1"])
    assert.ok((await painted(canvas)) > 10);
  await picture(page, "learn");
});

test("the message of a busy server is shown, with the time to wait", async () => {
  mock.mode = "busy";
  await visit("attention");
  await page
    .locator(".status.error", { hasText: "The queue is full: 64 requests wait already. Try again in 2 s." })
    .waitFor();
  await page.locator(".status code", { hasText: "queue_full" }).waitFor();
  await picture(page, "error-busy", false);
  mock.mode = "";
  await page.click("text=Try again >> nth=-1");
  await page.locator(kTokens, { hasText: "animal" }).waitFor();
});

test("a broken answer and a server that is gone are reported", async () => {
  await visit("attention");
  await page.locator(kTokens).first().waitFor();
  mock.mode = "broken";
  await page.fill("textarea >> nth=0", "Something else.");
  await page.locator(".status.error", { hasText: "cut short or is not JSON" }).waitFor();
  await page.route("**/v1/attention", (route) => route.abort());
  await page.fill("textarea >> nth=0", "Something new.");
  await page.locator(".status.error", { hasText: "does not answer" }).waitFor();
});

test("a locked server asks for its key, once", async () => {
  mock.mode = "locked";
  await visit("attention");
  await page.locator(".key-form", { hasText: "wants an API key" }).waitFor();
  await picture(page, "key", false);
  await page.fill("input[type=password]", "wrong");
  await page.keyboard.press("Enter");
  await page.locator(".key-form").waitFor();
  await page.fill("input[type=password]", "sesame");
  await page.click("text=Use key");
  await page.locator(kTokens, { hasText: "animal" }).waitFor();
  assert.equal(await page.locator(".key-form").count(), 0);
});

test("a slow server is waited for, and the last text wins", async () => {
  await visit("attention");
  await page.locator(kTokens).first().waitFor();
  mock.mode = "slow";
  await page.fill("textarea >> nth=0", "First.");
  await page.locator(".status.busy").waitFor();
  await page.fill("textarea >> nth=0", "Second.");
  await page.locator(kTokens, { hasText: "Second" }).waitFor();
  assert.equal(await page.locator(kTokens, { hasText: "First" }).count(), 0);
});

test("if no model fits, the view names one that would", async () => {
  mock.mode = "empty";
  await visit("translate");
  await page.locator("text=No model here can translate").waitFor();
  await page.locator("code", { hasText: "attend serve --model" }).waitFor();
  await picture(page, "empty", false);
});

test("the keyboard is enough", async () => {
  await visit("attention");
  await page.locator(kTokens).first().waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.locator(kTokens).first().focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await readout(), /^animal attends to /);
  await page.keyboard.press("Enter");
  assert.equal(await page.locator('.token[aria-pressed="true"]').innerText(), "animal");
  await page.locator(".viewport >> nth=1").focus();
  await page.keyboard.press("ArrowDown");
  for (const key of ["ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  assert.match(await readout(), /attends to .* with a weight of /);
  await page.locator('.thumbnails button[tabindex="0"]').focus();
  await page.keyboard.press("ArrowDown");
  await page.locator(".note", { hasText: "layer 1, head 0" }).waitFor();
  assert.match(await page.evaluate(() => document.activeElement.ariaLabel), /^Layer 1, head 0/);
  await page.locator("summary", { hasText: "As a table" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("caption", { hasText: "Layer 1" }).waitFor();
});

test("every control has a name, every picture a description", async () => {
  for (const view of ["attention", "translate", "summarize", "generate", "compare", "memory", "learn"]) {
    await page?.context().close();
    await visit(view);
    await page.waitForTimeout(600);
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll("button, input, select, textarea, [tabindex='0'], canvas:not([aria-hidden])")]
        .filter(
          (element) => !(element.ariaLabel || element.labels?.length || element.textContent.trim() || element.title),
        )
        .map((element) => element.outerHTML.slice(0, 80)),
    );
    assert.deepEqual(nameless, [], view);
  }
});

test("every view fits a phone, and has a dark side", async () => {
  for (const view of ["attention", "translate", "summarize", "generate", "compare", "memory", "learn"]) {
    for (const dark of [false, true]) {
      await page?.context().close();
      await visit(view, dark ? { dark } : { width: 390, height: 844 });
      await page.waitForTimeout(700);
      if (view === "generate") {
        await page.click("button.primary");
        await page.locator("text=Attention of layer").waitFor();
        await page.locator(kWritten).nth(4).focus();
        await page.waitForTimeout(200);
      }
      assert.ok((await overflow(page)) <= 0, `${view} overflows`);
      await picture(page, `${view}-${dark ? "dark" : "phone"}`);
    }
  }
});

test("the switch of colours is remembered", async () => {
  await visit("attention");
  await page.click('[aria-label="Switch to dark colours"]');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.reload();
  await page.locator('[aria-label="Switch to light colours"]').waitFor();
});
