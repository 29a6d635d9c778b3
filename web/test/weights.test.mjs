// The arithmetic behind the pictures, without a browser.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { build } from "esbuild";

const load = async (path) => {
  const { outputFiles } = await build({ entryPoints: [path], bundle: true, write: false, format: "esm" });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
};
let matrix, matching, heads;
before(async () => {
  process.chdir(new URL("..", import.meta.url).pathname);
  [matrix, matching, heads] = await Promise.all(["src/matrix.ts", "src/match.ts", "src/heads.ts"].map(load));
});
const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} is not ${expected}`);

test("whole rows and the greatest of each row say the same", () => {
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

test("a word looks as its tokens do on average and is seen as much as they are together", () => {
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

test("a head that looks back is described as such", () => {
  const back = Array.from({ length: 6 }, (_, q) =>
    Array.from({ length: 6 }, (_, k) => Number(k === Math.max(q - 1, 0))),
  );
  assert.match(matrix.habit(matrix.Matrix.dense(back, 6)), /to the token before, entropy 0.0 bits/);
});

test("written tokens are found again in the whole text", () => {
  const same = matching.match(["Once", " upon", " a", " time"], "Once upon", [" a", " time"]);
  assert.deepEqual(same, { query: [1, 2], written: [-1, -1, 0, 1] });
  const letters = matching.match([..."ab c"], "ab", [" ", "c"]);
  assert.deepEqual(letters, { query: [1, 2], written: [-1, -1, 0, 1] });
  const cut = matching.match(["Once", " upon", " atime"], "Once upon", [" a", "time"]);
  assert.deepEqual(cut.query[0], 1);
  assert.deepEqual(cut.written.slice(0, 2), [-1, -1]);
});

test("heads are chosen alone, added and taken away", () => {
  const { chooseHead } = heads;
  assert.deepEqual(chooseHead(null, 2, 4, false), new Set([2]));
  assert.equal(chooseHead(new Set([2]), 2, 4, false), null);
  assert.deepEqual(chooseHead(new Set([2]), 1, 4, true), new Set([2, 1]));
  assert.deepEqual(chooseHead(null, 1, 4, true), new Set([0, 2, 3]));
  assert.equal(chooseHead(new Set([0, 2, 3]), 1, 4, true), null);
});
