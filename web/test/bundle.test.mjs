// The committed scripts and styles of the program are what the sources build to, byte for byte.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { bundles, root } from "../build.mjs";

test("the committed files are what the sources build to", async () => {
  for (const [name, text] of Object.entries(await bundles()))
    assert.equal(await readFile(join(root, name), "utf8"), text, `${name} is stale: run "npm run page"`);
});
