// Bundles src/ into dist/: the page, one script, one style sheet, one icon. `--watch` goes on as files change.
import { cp, mkdir } from "node:fs/promises";
import * as esbuild from "esbuild";

const options = {
  entryPoints: ["src/app.ts", "src/app.css"],
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2023", "chrome123", "firefox121", "safari17.5"],
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
};

await mkdir("dist", { recursive: true });
await Promise.all(["index.html", "icon.svg"].map((file) => cp(`src/${file}`, `dist/${file}`)));
if (process.argv.includes("--watch")) await (await esbuild.context(options)).watch();
else await esbuild.build(options);
