// The openai package and a client in LibreTranslate's shape, against the program with the small folders of the tests.
//   make clients        (npm fetches the package, so this is not part of make test)
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import OpenAI from "openai";

const program = process.env.ATTEND ?? "../../build/release/attend";
const models = {
  gpt2: "../models/fixtures/gpt2_tokenizer",
  "it-en": "../models/fixtures/marian_tokenizer",
  sentences: "../tasks/fixtures/sentence_mean",
};
let server, address, client;

before(async () => {
  const flags = Object.entries(models).flatMap(([name, folder]) => ["--model", `${name}=${folder}`]);
  server = spawn(program, ["serve", "--port", "0", ...flags], { stdio: ["ignore", "inherit", "pipe"] });
  address = await new Promise((resolve, reject) => {
    server.stderr.on("data", (text) => {
      const found = /http:\/\/[^ ]+/.exec(text);
      if (found) resolve(found[0]);
    });
    server.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  client = new OpenAI({ baseURL: `${address}/v1`, apiKey: "any", maxRetries: 0 });
});
after(() => server.kill("SIGTERM"));

test("models are listed", async () => {
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  assert.deepEqual(names, Object.keys(models));
  assert.equal((await client.models.retrieve("gpt2")).id, "gpt2");
});

test("completions, whole and streamed", async () => {
  const request = {
    model: "gpt2", prompt: "The", max_tokens: 8, temperature: 1.5, seed: 3, n: 2, logprobs: 2,
    presence_penalty: 0.2, frequency_penalty: 0.5, logit_bias: { 7: -100 } };
  const whole = await client.completions.create(request);
  assert.equal(whole.choices.length, 2);
  assert.equal(whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens);
  const texts = ["", ""];
  for await (const part of await client.completions.create({ ...request, stream: true }))
    for (const choice of part.choices) texts[choice.index] += choice.text;
  assert.deepEqual(texts, whole.choices.map((choice) => choice.text));
});

test("chat, whole and streamed", async () => {
  const request = { model: "gpt2", messages: [{ role: "user", content: "To be" }], max_completion_tokens: 6 };
  const whole = await client.chat.completions.create(request);
  let text = "";
  for await (const part of await client.chat.completions.create({ ...request, stream: true }))
    text += part.choices[0].delta.content ?? "";
  assert.equal(text, whole.choices[0].message.content);
  const runner = client.chat.completions.stream(request);
  assert.equal((await runner.finalMessage()).content, text);
});

test("embeddings, which the package asks for in base64", async () => {
  const input = ["to be or not to be", "that is the question"];
  const vectors = await client.embeddings.create({ model: "sentences", input });
  const numbers = await client.embeddings.create({ model: "sentences", input, encoding_format: "float" });
  assert.equal(vectors.data.length, 2);
  vectors.data.forEach((one, i) =>
    one.embedding.forEach((value, d) => assert.ok(Math.abs(value - numbers.data[i].embedding[d]) < 1e-6)));
});

test("errors are the package's own", async () => {
  await assert.rejects(client.completions.create({ model: "other", prompt: "x" }), OpenAI.NotFoundError);
  await assert.rejects(client.completions.create({ model: "gpt2", prompt: "x", temperature: -1 }), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.equal(error.code, "invalid_value");
    assert.equal(error.param, "temperature");
    return true;
  });
});

test("a stream that is cancelled frees its place", async () => {
  const stream = await client.completions.create({
    model: "gpt2", prompt: "The", max_tokens: 10000, stream: true, ignore_eos: true, long: "slide" });
  for await (const part of stream) {
    assert.ok(part.choices);
    break;
  }
  for (let i = 0; i < 100; ++i) {
    const metrics = await (await fetch(`${address}/metrics`)).text();
    if (metrics.includes('attend_running_texts{model="gpt2"} 0')) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail("it is still written");
});

test("LibreTranslate's clients translate, list and detect", async () => {
  const ask = async (path, body) => {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(address + path, body && { method: "POST", body: JSON.stringify(body), headers });
    return { status: response.status, json: await response.json() };
  };
  const one = await ask("/translate", { q: "Essere o non essere", source: "it", target: "en", format: "text", api_key: "" });
  assert.equal(one.status, 200);
  assert.equal(typeof one.json.translatedText, "string");
  const several = await ask("/translate", { q: ["Essere", "o non"], source: "auto", target: "en", alternatives: 2 });
  assert.equal(several.json.translatedText.length, 2);
  assert.equal(several.json.alternatives[0].length, 2);
  assert.deepEqual((await ask("/languages")).json, [{ code: "it", name: "Italian", targets: ["en"] }]);
  assert.equal((await ask("/detect", { q: "Essere" })).json[0].language, "it");
  const wrong = await ask("/translate", { q: "x", source: "fi", target: "en" });
  assert.equal(wrong.status, 400);
  assert.equal(typeof wrong.json.error, "string");
});
