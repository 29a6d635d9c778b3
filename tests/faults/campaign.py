#!/usr/bin/env python3
# Faults of the file system while Attend writes: each command is run once to count its system calls in the output folder,
# and then again for each call and each fault (see faults.c). After each fault, the folder must hold the old model or the
# new one, complete; the exit code must be 0, 1 or 2, with a message; and repeating the command, with --resume where there
# is one, must give the same bytes as a run without faults.
#   tests/faults/campaign.py --library build/release/tests/libattend_faults.so [--program build/release/attend]
#     [--runs N] [--minutes M] [--every-write] [--only NAME]
# --runs limits the faults of each command; they are spread evenly. Without it, all are run. After M minutes, what is left
# is left out, from each command alike, and counted.
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

KINDS = ["full", "enospc", "eio", "erofs", "eintr", "short", "kill-before", "kill-after"]
# The files of a run, which may differ: times, and what only --resume needs.
RUN_FILES = {"checkpoint.safetensors", "checkpoint.replaced.safetensors", "curve.csv", "curve.html", "recipe.toml",
             "train.tokens", "validation.tokens", "best-models"}
MINE = "mine.txt"  # a file of the user's, which nothing may touch

parser = argparse.ArgumentParser()
parser.add_argument("--library", required=True)
parser.add_argument("--program", default="build/release/attend")
parser.add_argument("--runs", type=int, default=0)
parser.add_argument("--minutes", type=float, default=10)
parser.add_argument("--jobs", type=int, default=2)
parser.add_argument("--every-write", action="store_true")
parser.add_argument("--only", default="")
flags = parser.parse_args()
program, library = os.path.abspath(flags.program), os.path.abspath(flags.library)
end = time.monotonic() + 60 * flags.minutes


def attend(words, under=None, log=None, at=None, kind=None):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    if under:
        environment.update(LD_PRELOAD=library, FAULTS_UNDER=str(under))
    if log:
        environment["FAULTS_LOG"] = str(log)
    if at:
        environment.update(FAULTS_AT=str(at), FAULTS_KIND=kind)
    return subprocess.run([program, *map(str, words)], env=environment, capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL)


def must(words):
    done = attend(words)
    if done.returncode != 0:
        sys.exit(f"campaign: {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr}")
    return done


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def is_other(name):
    """Whether a file belongs to nobody's model: to a run, to a temporary file, or to the user."""
    return name.split("/")[0] in RUN_FILES or name.startswith(".attend-update") or ".part-" in name or \
        name.endswith((".partial", ".partial.json")) or name == MINE


def model_in(folder):
    """The files of the model that Attend reads from a folder, with their hashes."""
    ready = folder / ".attend-update"
    folder = ready if ready.is_dir() else folder
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: digest(path) for name, path in files.items() if not is_other(name)}


def without_seconds(csv):
    return [[cell for i, cell in enumerate(row.split(",")) if i != 6] for row in csv.read_text().splitlines()]


class Scenario:
    """A command that writes into {out}. `before` is the folder that {out} is a copy of, `again` the command that
    completes it after a fault, and `read` one that uses the result."""

    def __init__(self, name, command, before=None, again=None, read=None):
        self.name, self.command, self.before, self.again, self.read = name, command, before, again, read

    def words(self, command, out):
        return [str(word).replace("{out}", str(out)) for word in command]

    def prepare(self, folder):
        out = folder / "out"
        if self.before:
            shutil.copytree(self.before, out)
            (out / MINE).write_text("mine")
        return out

    def measure(self, folder):
        out = self.prepare(folder)
        self.old = model_in(out)
        log = folder / "log"
        done = attend(self.words(self.command, out), under=out, log=log)
        if done.returncode != 0:
            sys.exit(f"campaign: {self.name}: exit code {done.returncode}\n{done.stderr}")
        self.new = model_in(out)
        lines = [line.split(" ", 2)[1:] for line in log.read_text().splitlines()]
        self.calls = [name for name, _ in lines]
        # Of many writes to one file in a row, the first and the last stand for all.
        inner = lambda i: 0 < i < len(lines) - 1 and lines[i][0] == "write" and lines[i - 1] == lines[i] == lines[i + 1]
        self.chosen = [i + 1 for i in range(len(lines)) if flags.every_write or not inner(i)]
        curve = out / "curve.csv"
        self.curve = without_seconds(curve) if curve.exists() else None
        self.output = must(self.words(self.read, out)).stdout if self.read else None
        return self.leftovers(out)

    def leftovers(self, out):
        names = [path.name for path in out.rglob("*")]
        return [name for name in names if name.startswith(".attend-update") or ".part-" in name or
                name in ("best-models", "checkpoint.replaced.safetensors")]

    def faults(self):
        for at in self.chosen:
            call = self.calls[at - 1]
            for kind in KINDS:
                if kind == "eintr" and call not in ("write", "pwrite", "fsync", "fdatasync", "writev", "ftruncate"):
                    continue
                if kind == "short" and "write" not in call and call not in ("sendfile", "copy_file_range"):
                    continue
                yield at, kind

    def is_whole(self, found):
        """The old model, the new one, or an earlier one of the same run."""
        if found in (self.old, self.new):
            return True
        rest = lambda files: {name: value for name, value in files.items() if name != "model.safetensors"}
        weights = found.get("model.safetensors")
        return rest(found) == rest(self.new) and weights not in (None, self.old.get("model.safetensors"))

    def problem(self, at, kind):
        """Runs the command with one fault. Returns what is wrong, or None."""
        with tempfile.TemporaryDirectory(prefix="attend-faults-") as name:
            out = self.prepare(pathlib.Path(name))
            done = attend(self.words(self.command, out), under=out, at=at, kind=kind)
            if kind.startswith("kill"):
                if done.returncode != -9:
                    return f"was not killed: exit code {done.returncode}"
            elif done.returncode not in (0, 1, 2):
                return f"exit code {done.returncode}: {done.stderr[-300:]}"
            elif done.returncode and "attend: " not in done.stderr:
                return f"exit code {done.returncode} without a message"
            elif done.returncode == 0 and model_in(out) != self.new:
                return "exit code 0, but the new files are not there"
            elif kind in ("eintr", "short") and done.returncode:
                return f"exit code {done.returncode}: {done.stderr[-300:]}"
            if not self.is_whole(model_in(out)):
                return f"a mixture: {model_in(out)}, old {self.old}, new {self.new}"
            if self.before and (out / MINE).read_text() != "mine":
                return "the user's file is lost"
            if self.read and (self.old or (out / ".attend-update").exists() or model_in(out) == self.new):
                read = attend(self.words(self.read, out))
                if read.returncode not in (0, 2) or (read.returncode and "attend: " not in read.stderr):
                    return f"cannot be read: exit code {read.returncode}: {read.stderr[-300:]}"
                if model_in(out) == self.new and read.stdout != self.output:
                    return f"reads wrongly: {read.stdout!r} {read.stderr[-300:]}, expected {self.output!r}"
            return self.repeat(out)

    def repeat(self, out):
        done = attend(self.words(self.again, out))
        # A command that failed before it began has changed nothing: there is nothing to resume, or only the old run.
        not_begun = "no run to continue" in done.stderr or \
            ("belongs to a run with other data" in done.stderr and model_in(out) == self.old)
        if done.returncode == 2 and not_begun:
            done = attend(self.words(self.command, out))
        if done.returncode != 0:
            return f"cannot be repeated: exit code {done.returncode}: {done.stderr[-300:]}"
        if model_in(out) != self.new:
            return f"the repeated run gives another result: {model_in(out)}, expected {self.new}"
        if self.curve and without_seconds(out / "curve.csv") != self.curve:
            return "the repeated run gives another curve"
        if self.leftovers(out):
            return f"left behind: {self.leftovers(out)}"
        return None


def write_data(folder):
    chance = random.Random(1)
    words = {"a": "great lovely fine film".split(), "b": "awful bad dull plot music".split()}
    for name, source in (("films_a", "a"), ("films_b", "b"), ("held_out", "b")):
        with open(folder / f"{name}.tsv", "w") as films:
            for _ in range(24):
                label = chance.choice(["good", "poor"])
                films.write(" ".join(chance.choices(words[source], k=3)) + f" {label}ness\t{label}\n")
    numbers = [("one", "eins"), ("two", "zwei"), ("three", "drei"), ("four", "vier"), ("five", "fuenf")]
    with open(folder / "pairs.tsv", "w") as pairs, open(folder / "sources.txt", "w") as sources:
        for _ in range(60):
            chosen = chance.choices(numbers, k=chance.randint(1, 3))
            pairs.write(" ".join(a for a, _ in chosen) + "\t" + " ".join(b for _, b in chosen) + "\n")
            sources.write(" ".join(a for a, _ in chosen) + "\n")
    text = ["To be, or not to be, that is the question. Whether it is nobler.", "", "Once. There was a king.", ""]
    (folder / "text.txt").write_text("\n".join(text * 8))


def scenarios(folder):
    write_data(folder)
    run = ["--threads", "1", "--checkpoint-every", "0"]
    small = ["--embedding", "4", "--hidden", "4"]

    def train(task, data, *more, steps=2):
        return ["train", task, "--train", folder / data, "--output", "{out}", *run, "--steps", steps, *more]

    classifier = lambda data, *more: train("classifier", data, *small, *more)
    classify = ["classify", "--model", "{out}", "great awful film"]
    old = folder / "old"
    must([str(word).replace("{out}", str(old)) for word in classifier("films_a.tsv", "--vocab-size", "40")])
    new = classifier("films_b.tsv")
    best = train("classifier", "films_b.tsv", *small, "--validation", folder / "held_out.tsv", "--validate-every", "1",
                 "--average-best", "2", steps=3)
    language = train("language-model", "text.txt", "--tokens", "characters", "--layers", "1", "--width", "8", "--heads",
                     "1", "--context", "8", "--batch-tokens", "32", "--sample-tokens", "0")
    masked = train("masked-lm", "text.txt", "--layers", "1", "--width", "8", "--heads", "1", "--inner", "8",
                   "--vocab-size", "60", "--max-tokens", "16", "--batch-tokens", "64", "--no-next-sentence")
    translation = train("translation", "pairs.tsv", "--arch", "rnn", *small, "--vocab-size", "30", "--batch-tokens",
                        "64")
    translator = folder / "translator"
    must([str(word).replace("{out}", str(translator)) for word in translation])
    tokenizer = folder / "tokenizer"
    must(["train", "tokenizer", "--type", "unigram", "--vocab-size", "30", "--input", folder / "sources.txt",
          "--output", tokenizer])
    retokenize = ["train", "tokenizer", "--type", "wordpiece", "--vocab-size", "60", "--input", folder / "text.txt",
                  "--output", "{out}"]
    finetune = ["finetune", "classifier", "--from", old, "--train", folder / "films_b.tsv", "--output", "{out}", *run,
                "--steps", 2]
    convert = ["convert", "--model", old, "--int8", "--output", "{out}", "--overwrite"]
    translate = ["translate", "--model", translator, "--input", folder / "sources.txt", "--output", "{out}/out.txt",
                 "--max-new-tokens", "4", "--threads", "1"]
    (folder / "empty").mkdir()
    resumed = lambda command: [*command, "--resume"]
    return [
        Scenario("train classifier", new, None, resumed(new), classify),
        Scenario("train classifier --overwrite", [*new, "--overwrite"], old, [*new, "--overwrite"], classify),
        Scenario("train classifier --overwrite, then --resume", [*new, "--overwrite"], old, resumed(new), classify),
        Scenario("train classifier --average-best", best, None, resumed(best), classify),
        Scenario("train language-model", language, None, resumed(language)),
        Scenario("train masked-lm --overwrite", [*masked, "--overwrite"], old, resumed(masked)),
        Scenario("train translation --overwrite", [*translation, "--overwrite"], old, resumed(translation)),
        Scenario("finetune classifier", finetune, None, resumed(finetune), classify),
        Scenario("convert --overwrite", convert, old, convert, classify),
        Scenario("train tokenizer", retokenize, tokenizer, retokenize,
                 ["tokenize", "--model", "{out}", "--input", folder / "text.txt"]),
        Scenario("translate --output", translate, folder / "empty", resumed(translate)),
    ]


def main():
    failed, done = 0, 0
    with tempfile.TemporaryDirectory(prefix="attend-faults-") as name:
        chosen = [scenario for scenario in scenarios(pathlib.Path(name)) if flags.only in scenario.name]
        for position, scenario in enumerate(chosen):
            with tempfile.TemporaryDirectory(prefix="attend-faults-") as place:
                left = scenario.measure(pathlib.Path(place))
            faults = list(scenario.faults())
            if flags.runs and len(faults) > flags.runs:
                step = len(faults) / flags.runs
                faults = [faults[int(i * step)] for i in range(flags.runs)]
            random.Random(1).shuffle(faults)  # so that those for which there is no time are spread, too
            deadline = time.monotonic() + (end - time.monotonic()) / (len(chosen) - position)
            problems = [("no fault", f"left behind: {left}")] if left else []
            skipped = 0
            with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
                def one(fault):
                    return "late" if time.monotonic() > deadline else scenario.problem(*fault)

                for fault, problem in zip(faults, pool.map(one, faults)):
                    if problem == "late":
                        skipped += 1
                    elif problem:
                        at, kind = fault
                        problems.append((f"{kind} at call {at}, {scenario.calls[at - 1]}", problem))
            done += len(faults) - skipped
            failed += len(problems)
            late = f", {skipped} left out: the time is over" if skipped else ""
            print(f"{scenario.name}: {len(scenario.calls)} calls, {len(faults) - skipped} faults, "
                  f"{len(problems)} problems{late}", flush=True)
            for where, problem in problems[:20]:
                print(f"  {where}: {problem}", flush=True)
    print(f"campaign: {done} faults, {failed} problems")
    return 1 if failed or not done else 0


sys.exit(main())
