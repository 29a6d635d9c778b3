// The openai package and a client in LibreTranslate's shape, against the program with the small folders of the tests.
//   make clients        (npm fetches the package, so this is not part of make test)
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import OpenAI from "openai";

const program = process.env.ATTEND ?? "../../build/release/attend";
const models = {
  gpt2: "../models/fixtures/gpt2_tokenizer",
  "it-en": "../models/fixtures/marian_tokenizer",
  sentences: "../tasks/fixtures/sentence_mean",
};
let server, address, client;

async function serve(served, ...more) {
  const flags = served.flatMap((name) => ["--model", `${name}=${models[name]}`]);
  const started = spawn(program, ["serve", "--port", "0", ...flags, ...more], { stdio: ["ignore", "inherit", "pipe"] });
  const url = await new Promise((resolve, reject) => {
    let printed = "";  // which arrives in pieces
    started.stderr.on("data", (text) => {
      printed += text;
      const found = /http:\/\/[^ ]+(?= )/.exec(printed);
      if (found) resolve(found[0]);
    });
    started.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return [started, url];
}

before(async () => {
  [server, address] = await serve(Object.keys(models));
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

test("keys of a file, pages of an allowed origin, and a soon end among half-open connections", async (context) => {
  const keys = join(tmpdir(), `attend-keys-${process.pid}`);
  writeFileSync(keys, "# keys\n  spaced \t\r\nplain\n\n");
  const [locked, url] = await serve(["it-en"], "--api-key-file", keys, "--cors-origin", "https://app.example");
  const sockets = [];
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    locked.kill("SIGKILL");
  });
  const status = async (headers, body, path = "/v1/models") =>
    (await fetch(url + path, body ? { method: "POST", headers, body } : { headers })).status;
  assert.equal(await status({}), 401);
  assert.equal(await status({ Authorization: "Bearer spaced" }), 200);
  assert.equal(await status({ Authorization: "bearer plain" }), 200);
  const form = new URLSearchParams({ q: "essere ".repeat(2000), source: "it", target: "en", api_key: "plain" });
  assert.equal(await status({}, form, "/translate"), 200);
  form.set("api_key", "other");
  assert.equal(await status({}, form, "/translate"), 401);
  assert.equal(await status({ Origin: "https://evil.example", Authorization: "Bearer plain" }), 403);
  const page = await fetch(`${url}/v1/models`, { headers: { Origin: "https://app.example", Authorization: "Bearer plain" } });
  assert.equal(page.headers.get("Access-Control-Allow-Origin"), "https://app.example");
  for (let i = 0; i < 300; ++i) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write("POST /translate HT");
    sockets.push(socket);
  }
  await new Promise((resolve) => setTimeout(resolve, 1200));
  const asked = Date.now();
  assert.equal(await status({}, undefined, "/health"), 200);
  assert.ok(Date.now() - asked < 3000, "/health takes too long");
  const begin = Date.now();
  locked.kill("SIGTERM");
  await once(locked, "exit");
  assert.ok(Date.now() - begin < 5000, "the server takes too long to end");
});

test("names that could never match are refused at once", () => {
  for (const flags of [["--allowed-host", "http://example.org"], ["--allowed-host", "a:80"], ["--cors-origin", "example.org"],
                       ["--cors-origin", "https://example.org/"]]) {
    const done = spawnSync(program, ["serve", "--port", "0", "--model", `gpt2=${models.gpt2}`, ...flags], { timeout: 20000 });
    assert.equal(done.status, 2, `${flags}: ${done.stderr}`);
  }
});
