// The arithmetic behind the pictures, without a browser.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { build } from "esbuild";

const load = async (path) => {
  const { outputFiles } = await build({ entryPoints: [path], bundle: true, write: false, format: "esm" });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
};
let matrix, matching, heads, statistics, data;
before(async () => {
  process.chdir(new URL("..", import.meta.url).pathname);
  [matrix, matching, heads, statistics, data] = await Promise.all(
    ["src/matrix.ts", "src/match.ts", "src/heads.ts", "src/statistics.ts", "src/page/data.ts"].map(load),
  );
});
const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} is not ${expected}`);

test("whole rows and pairs of keys and weights give the same matrix", () => {
  const { Matrix } = matrix;
  const whole = Matrix.of(
    {
      head: 0,
      weights: [
        [0.25, 0.75],
        [1, 0],
      ],
    },
    2,
  );
  const few = Matrix.of(
    {
      head: 0,
      rows: [
        [
          [1, 0.75],
          [0, 0.25],
        ],
        [[0, 1]],
      ],
    },
    2,
  );
  for (const q of [0, 1]) assert.deepEqual(few.row(q), whole.row(q));
  near(few.at(1, 1), 0);
  near(few.greatest(), 1);
  assert.deepEqual(few.column(0), [
    { key: 0, weight: 0.25 },
    { key: 1, weight: 1 },
  ]);
});

test("weights from a word are the mean over its tokens, weights to a word the sum", () => {
  const { Matrix, groups, regroup } = matrix;
  const tokens = ["[CLS]", "play", "##ing", "chess"];
  const words = [-1, 0, 0, 1];
  const joined = groups(tokens, words, true, true);
  assert.deepEqual(
    joined.map(({ label }) => label),
    ["[CLS]", "playing", "chess"],
  );
  const weights = Matrix.dense(
    [
      [1, 0, 0, 0],
      [0.2, 0.3, 0.1, 0.4],
      [0, 0.1, 0.3, 0.6],
      [0.25, 0.25, 0.25, 0.25],
    ],
    4,
  );
  const together = regroup(weights, joined, joined);
  near(together.at(1, 1), 0.4);
  near(together.at(1, 2), 0.5);
  near(together.at(2, 1), 0.5);
  const without = groups(tokens, words, false, false);
  assert.deepEqual(
    without.map(({ label }) => label),
    ["play", "##ing", "chess"],
  );
  near(regroup(weights, without, without).at(0, 2), 0.4);
});

test("the mean of heads is taken weight by weight", () => {
  const { Matrix, mean } = matrix;
  const both = mean([Matrix.dense([[1, 0]], 2), Matrix.dense([[0.5, 0.5]], 2)]);
  near(both.at(0, 0), 0.75);
  near(both.at(0, 1), 0.25);
});

test("a head that attends to the previous token is described as such", () => {
  const back = Array.from({ length: 6 }, (_, q) =>
    Array.from({ length: 6 }, (_, k) => Number(k === Math.max(q - 1, 0))),
  );
  const tokens = [..."abcdef"];
  const measured = statistics.measure(matrix.Matrix.dense(back, 6), tokens, tokens, [0, 1, 2, 3, 4, 5], true);
  near(measured.previous, 5 / 6);
  near(measured.first, 2 / 6);
  near(measured.distance, 5 / 6);
  assert.equal(statistics.habit(measured), "83 % to the previous token, entropy 0.0 bits");
});

test("special tokens and the same token elsewhere have their shares", () => {
  const even = Array.from({ length: 4 }, () => [0.25, 0.25, 0.25, 0.25]);
  const tokens = ["[CLS]", "to", " to", "[SEP]"];
  const measured = statistics.measure(matrix.Matrix.dense(even, 4), tokens, tokens, [-1, 0, 1, -1], true);
  near(measured.entropy, 2);
  near(measured.separator, 0.25);
  near(measured.same, 0.125);
  const cross = statistics.measure(matrix.Matrix.dense(even, 4), tokens, tokens, [-1, 0, 1, -1], false);
  assert.equal(cross.previous, null);
});

test("the full colour is not that of a single strong row", () => {
  const rows = Array.from({ length: 20 }, (_, q) => (q ? [0.1, 0.2] : [1, 0]));
  near(matrix.Matrix.dense(rows, 2).fullScale(), 0.2);
  near(matrix.Matrix.dense([[0.5, 0.5]], 2).fullScale(), 0.5);
});

test("the bytes of a page become the weights, dense and sparse", () => {
  const byte = (weight) => Math.round(255 * Math.sqrt(weight));
  const dense = Uint8Array.from([1, 0, 0.25, 0.75, 0.5, 0.5, 0, 1].map(byte)); // two matrices of 2 × 2
  const second = data.decode(dense, 1, 2, 2, 2, 0);
  assert.ok(Math.abs(second.at(0, 1) - 0.5) < 0.004);
  assert.equal(second.at(1, 0), 0);
  // One matrix of 2 × 600 with the two greatest weights of each row: keys 3 and 599, then 0 and 256.
  const keys = [3, 599, 0, 256].flatMap((key) => [key & 255, key >> 8]);
  const sparse = Uint8Array.from([...keys, ...[0.2, 0.8, 0.6, 0].map(byte)]);
  const few = data.decode(sparse, 0, 1, 2, 600, 2);
  assert.ok(Math.abs(few.at(0, 599) - 0.8) < 0.004);
  assert.deepEqual(
    few.row(1).map(({ key }) => key),
    [0],
  );
});

test("generated tokens are found again in the whole text", () => {
  const same = matching.match(["Once", " upon", " a", " time"], "Once upon", [" a", " time"]);
  assert.deepEqual(same, { query: [1, 2], written: [-1, -1, 0, 1] });
  const letters = matching.match([..."ab c"], "ab", [" ", "c"]);
  assert.deepEqual(letters, { query: [1, 2], written: [-1, -1, 0, 1] });
  const cut = matching.match(["Once", " upon", " atime"], "Once upon", [" a", "time"]);
  assert.deepEqual(cut.query[0], 1);
  assert.deepEqual(cut.written.slice(0, 2), [-1, -1]);
});

test("heads are chosen alone, added and removed", () => {
  const { chooseHead } = heads;
  assert.deepEqual(chooseHead(null, 2, 4, false), new Set([2]));
  assert.equal(chooseHead(new Set([2]), 2, 4, false), null);
  assert.deepEqual(chooseHead(new Set([2]), 1, 4, true), new Set([2, 1]));
  assert.deepEqual(chooseHead(null, 1, 4, true), new Set([0, 2, 3]));
  assert.equal(chooseHead(new Set([0, 2, 3]), 1, 4, true), null);
});
