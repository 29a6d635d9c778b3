// The committed script and styles of the program's pages are what the sources build to, byte for byte.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { assets, bundlePage } from "../build.mjs";

test("attend/explain/assets is what the sources build to", async () => {
  for (const [name, text] of Object.entries(await bundlePage()))
    assert.equal(await readFile(join(assets, name), "utf8"), text, `${name} is stale: run "npm run page"`);
});
