#!/usr/bin/env python3
# Many clients at once, from a second process: mixed short and long requests for some minutes, some of which hang up. All
# answers must be those of the program, no error may come but 429, and the server's memory must stay flat.
#   tests/load/load.py [--minutes 5] [--clients 200] [--program build/release/attend]
# Models are the small folders of the tests, unless --model NAME=DIR gives others (a GPT-2 as gpt2, a translator as it-en,
# an encoder as sentences).
import argparse
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MODELS = {"gpt2": f"{FIXTURES}/models/fixtures/gpt2_tokenizer", "it-en": f"{FIXTURES}/models/fixtures/marian_tokenizer",
          "sentences": f"{FIXTURES}/tasks/fixtures/sentence_mean"}
WORDS = "to be or not that is the question once upon a time there was king who had no hair at all essere o non".split()

parser = argparse.ArgumentParser()
parser.add_argument("--minutes", type=float, default=5)
parser.add_argument("--clients", type=int, default=200)
parser.add_argument("--program", default="build/release/attend")
parser.add_argument("--model", action="append", default=[])
parser.add_argument("--tokens", type=int, default=60, help="of the longest text")
flags = parser.parse_args()
MODELS.update(model.split("=", 1) for model in flags.model)


def program(*arguments, lines):
    done = subprocess.run([flags.program, *arguments], input="".join(line + "\n" for line in lines), check=True,
                          stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def jobs():
    """Requests with what the program answers to the same."""
    chance = random.Random(1)
    texts = [" ".join(chance.choices(WORDS, k=chance.randint(1, 5))) for _ in range(24)]
    all_jobs = []
    for tokens in {2, flags.tokens}:
        for seed in (None, 7):
            more = ["--max-new-tokens", str(tokens), "--long", "slide"]
            more += ["--greedy"] if seed is None else ["--temperature", "1.5", "--seed", str(seed)]
            body = {"model": "gpt2", "max_tokens": tokens, "temperature": 0 if seed is None else 1.5, "seed": seed,
                    "long": "slide"}
            for text, line in zip(texts, program("generate", "--model", MODELS["gpt2"], "--json", *more, lines=texts)):
                all_jobs.append(("/v1/completions", {**body, "prompt": text}, line["text"]))
                all_jobs.append(("/v1/completions", {**body, "prompt": text, "stream": True}, line["text"]))
    for text, line in zip(texts, program("translate", "--model", MODELS["it-en"], "--json", lines=texts)):
        all_jobs.append(("/translate", {"q": text, "source": "it", "target": "en", "model": "it-en"}, line["translation"]))
    for text, line in zip(texts, program("embed", "--model", MODELS["sentences"], "--json", lines=texts)):
        all_jobs.append(("/v1/embeddings", {"model": "sentences", "input": text}, line["embedding"]))
    return all_jobs


def read(path, body, response):
    """What the program would have printed."""
    data = response.read().decode()
    if body.get("stream"):
        events = [json.loads(line[6:]) for line in data.splitlines() if line.startswith("data: {")]
        assert data.endswith("data: [DONE]\n\n"), data[-200:]
        return "".join(event["choices"][0]["text"] for event in events)
    answer = json.loads(data)
    if path == "/v1/completions":
        return answer["choices"][0]["text"]
    return answer["translatedText"] if path == "/translate" else answer["data"][0]["embedding"]


def same(got, expected):
    if isinstance(expected, list):
        return len(got) == len(expected) and all(abs(a - b) < 1e-4 for a, b in zip(got, expected))
    return got == expected


class Count:
    def __init__(self):
        self.lock, self.numbers, self.problems = threading.Lock(), {}, []

    def add(self, what, problem=None):
        with self.lock:
            self.numbers[what] = self.numbers.get(what, 0) + 1
            if problem and len(self.problems) < 10:
                self.problems.append(problem)


def client(number, port, all_jobs, end, count):
    chance = random.Random(number)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    while time.time() < end:
        path, body, expected = chance.choice(all_jobs)
        try:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            if chance.random() < 0.02:  # in the middle of it
                connection.close()
                count.add("hung up")
                continue
            response = connection.getresponse()
            if response.status == 429:
                response.read()
                count.add("429")
                time.sleep(chance.random())
            elif response.status != 200:
                count.add("error", f"{path}: {response.status} {response.read()[:300]}")
            else:
                got = read(path, body, response)
                if same(got, expected):
                    count.add("right")
                else:
                    count.add("wrong", f"{path} {json.dumps(body)}: got {str(got)[:200]}, expected {str(expected)[:200]}")
        except (OSError, http.client.HTTPException, AssertionError, ValueError) as error:
            count.add("error", f"{path}: {error!r}")
            connection.close()


def memory(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) // 1024


all_jobs = jobs()
models = [argument for name, folder in MODELS.items() for argument in ("--model", f"{name}={folder}")]
server = subprocess.Popen([flags.program, "serve", *models, "--port", "0", "--connections", str(flags.clients + 8)],
                          stderr=subprocess.PIPE, text=True)
port = int(re.search(r":(\d+)", server.stderr.readline().split("http://")[1])[1])
count, begin = Count(), time.time()
end = begin + 60 * flags.minutes
clients = [threading.Thread(target=client, args=(number, port, all_jobs, end, count)) for number in range(flags.clients)]
for one in clients:
    one.start()
used = []
while time.time() < end:
    time.sleep(min(max(end - begin, 1) / 10, 10))
    used.append(memory(server.pid))
    print(f"{time.time() - begin:5.0f} s  {used[-1]} MB  {count.numbers}", flush=True)
for one in clients:
    one.join()
server.send_signal(signal.SIGTERM)
ended = server.wait(60)
problems = count.problems
if count.numbers.get("wrong") or count.numbers.get("error") or not count.numbers.get("right"):
    problems.append(f"answers: {count.numbers}")
half = used[len(used) // 2:]
if half and max(half) > 1.1 * half[0] + 16:
    problems.append(f"memory grows: {used} MB")
if ended != 0 and ended != 128 + signal.SIGTERM:
    problems.append(f"the server ended with {ended}")
print("\n".join(problems) if problems else f"all well: {count.numbers}")
sys.exit(1 if problems else 0)
