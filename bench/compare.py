#!/usr/bin/env python3
"""Compares our benchmarks with those of PyTorch, alternately in one run: the best of several rounds of each job, and the ratio.

  bench/compare.py attention rows          groups (GROUP_bench and GROUP_torch.py); default: all
  bench/compare.py attention -k T1024      only the jobs whose name contains T1024
  bench/compare.py --against DIR           compares with another build of Attend instead; DIR is its build/release/bench

PEER_PYTHON is the command that runs Python with torch (default: python3). If PEER_PYTHON2 is set too, for example to a
Python whose torch uses another BLAS, the faster one is used. The exit code is 1 if a job misses its bar.
"""
import argparse
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


class Side:
    """A running benchmark program, which executes one job at a time."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        cwd=HERE.parent, env=environment)

    def ask(self, name):
        try:
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            sys.exit(f"{shlex.join(self.process.args)} stopped at {name}; PEER_PYTHON must name a Python that has torch")
        return float(answer)


def amount(seconds):
    return f"{seconds * 1e6:9.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:9.2f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*")
    parser.add_argument("-k", default="", help="only jobs whose name contains this")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--against", help="the bench folder of another build")
    parser.add_argument("--build", default=str(HERE.parent / "build/release/bench"))
    options = parser.parse_args()
    groups = options.groups or sorted(path.name[:-len("_bench.cpp")] for path in HERE.glob("*_bench.cpp"))
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
    missed = 0
    for group in groups:
        program = f"{options.build}/{group}_bench"
        listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
        jobs = [line.split("\t") for line in listed.splitlines() if options.k in line.split("\t")[0]]
        if not jobs:
            continue
        ours = Side([program], environment)
        script = f"bench/{group}_torch.py"
        commands = [os.environ.get("PEER_PYTHON", "python3"), os.environ.get("PEER_PYTHON2")]
        peers = [Side(shlex.split(command) + [script], environment)
                 for command in commands if command and not options.against and (HERE.parent / script).exists()]
        if options.against:
            other = f"{options.against}/{group}_bench"
            listed = subprocess.run([other, "--list"], capture_output=True, text=True, check=True).stdout
            shared = {line.split("\t")[0] for line in listed.splitlines()}
            jobs = [(name, unit, 0.98) for name, unit, _ in jobs if name in shared and unit == "s"]
            peers = [Side([other], environment)]
        print(f"{group:44s} {'ours':>12s} {'other build' if options.against else 'PyTorch':>12s} {'ratio':>8s}  bar")
        for name, unit, bar in jobs:
            bar = float(bar)
            if unit != "s":
                value = ours.ask(name)
                ok = bar == 0 or (value <= bar if bar > 0 else value >= -bar)
                limit = "" if bar == 0 else f"{'≤' if bar > 0 else '≥'} {abs(bar):g} {unit}"
                print(f"{name:44s} {value:9.4g} {unit:<12s} {'':12s} {limit}{'' if ok else '  MISSED'}", flush=True)
                missed += not ok
                continue
            best, theirs = 1e30, 1e30
            for _ in range(options.rounds):
                best = min(best, ours.ask(name))
                answers = [answer for answer in (peer.ask(name) for peer in peers) if answer > 0]
                theirs = min([theirs, *answers])
            ratio = theirs / best
            ok = theirs > 1e29 or ratio >= bar
            other = "" if theirs > 1e29 else amount(theirs)
            print(f"{name:44s} {amount(best)} {other:>12s} {f'{ratio:8.2f}' if other else '':>8s}"
                  f"  {f'≥ {bar:g}' if bar else ''}{'' if ok else '  MISSED'}", flush=True)
            missed += not ok
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
