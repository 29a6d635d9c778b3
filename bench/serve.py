#!/usr/bin/env python3
# Throughput and latency of the server, measured by this process over the loopback interface.
#   bench/serve.py --gpt2 FOLDER       32 clients that generate 64 tokens each, compared with one; time to the first token
#                                      on a busy server, compared with an idle one
#   bench/serve.py --gpt2 FOLDER --llama "command that runs llama-server"    also compares with llama.cpp
#   bench/serve.py --llm FOLDER        time to the first token after 1,000 tokens that were read before, compared with the
#                                      first time (bench/llama_folder.py makes a folder)
#   bench/serve.py --llm FOLDER --llama "command that runs llama-server"     also 16 conversations of 3 turns at once, compared with
#                                      llama.cpp
#   bench/serve.py --embedder FOLDER   64 clients that embed texts, compared with attend embed
#   bench/serve.py --small FOLDER      overhead of HTTP, with an embedder that takes almost no time
#   bench/serve.py --gpt2 FOLDER --embedder FOLDER --against PROGRAM    compares with another build of Attend instead
# Folders are Hugging Face folders; the weights may be random. Both sides run alternately, and the best of each is used.
import argparse
import http.client
import json
import os
import random
import re
import socket
import statistics
import subprocess
import tempfile
import threading
import time

parser = argparse.ArgumentParser()
for name in ("gpt2", "llm", "llama", "embedder", "small"):
    parser.add_argument("--" + name)
parser.add_argument("--against", metavar="PROGRAM")
parser.add_argument("--program", default=os.environ.get("ATTEND_BUILD", "build/release") + "/attend")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--clients", type=int, default=32)
parser.add_argument("--tokens", type=int, default=64)
parser.add_argument("--threads", type=int, default=2)
flags = parser.parse_args()
WORDS = "the of and to in is was for on that by this with from or had not are but what all were when we there".split()


def row(name, ours, theirs, unit, ratio, bar, better="at least"):
    print(f"{name:44} {ours:9.2f} {theirs:9.2f} {unit:9} {ratio:6.2f}   {better} {bar}", flush=True)


class Attend:
    def __init__(self, *models, program=None):
        arguments = [argument for model in models for argument in ("--model", model)]
        self.process = subprocess.Popen([program or flags.program, "--threads", str(flags.threads), "serve", "--port", "0", *arguments],
                                        stderr=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+)", self.process.stderr.readline().split("http://")[1])[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Llama:
    def __init__(self, path, clients=flags.clients, context=256):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [*flags.llama.split(), "-m", path, "-t", str(flags.threads), "-np", str(clients), "-c",
                   str(context * clients), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                if get(self.port, "/health") == 200:
                    break
            except OSError:
                pass
            time.sleep(0.2)

    __enter__, __exit__ = Attend.__enter__, Attend.__exit__


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", path)
    return connection.getresponse().status


def prompt(number):
    return " ".join(WORDS[(number * 7 + i * (1 + number % 5)) % len(WORDS)] for i in range(8))


def complete(port, prompt, tokens, times):
    """Streams one completion. Appends the times of the request, of the first and of the last token. Returns the text."""
    body = json.dumps({"model": "lm", "prompt": prompt, "max_tokens": tokens, "temperature": 0, "stream": True, "ignore_eos": True})
    begin = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/v1/completions", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    first, end, finished, text = 0, 0, False, ""
    for line in response:
        if not line.startswith(b"data: {"):
            continue
        first, end = first or time.perf_counter(), time.perf_counter()
        for choice in json.loads(line[len(b"data: "):])["choices"]:
            finished, text = finished or choice.get("finish_reason") == "length", text + choice["text"]
    assert response.status == 200 and finished, response.status
    times.append((begin, first, end))
    return text


def generate(port, number, times):
    complete(port, prompt(number), flags.tokens, times)


def at_once(run, clients):
    threads = [threading.Thread(target=run, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def texts_at_once(port, clients):
    """Requests all completions at once. Returns tokens per second, and the mean time to the first token in seconds."""
    times = []
    at_once(lambda number: generate(port, number, times), clients)
    seconds = max(end for _, _, end in times) - min(begin for begin, _, _ in times)
    return clients * flags.tokens / seconds, statistics.mean(first - begin for begin, first, _ in times)


def first_tokens(port, clients, seconds):
    """Clients start evenly distributed over the time of one completion, and request a second one afterwards. Returns the
    median time to the first token of the second ones in seconds."""
    times = []

    def run(number):
        time.sleep(seconds * number / clients)
        generate(port, number, [])
        generate(port, number + clients, times)

    at_once(run, clients)
    return statistics.median(first - begin for begin, first, _ in times)


def measure_generation():
    many, one, theirs, first, while_busy = 0, 0, 0, 1e9, 1e9
    with tempfile.TemporaryDirectory(dir="build") as here, Attend(f"lm={flags.gpt2}") as server:
        path = os.path.abspath(f"{here}/gpt2.gguf")
        if flags.llama:
            subprocess.run([flags.program, "convert", "--model", flags.gpt2, "--output", path], check=True,
                           stderr=subprocess.DEVNULL)
        texts_at_once(server.port, 1)
        for _ in range(flags.rounds):
            rate, wait = texts_at_once(server.port, 1)
            one, first = max(one, rate), min(first, wait)
            rate, _ = texts_at_once(server.port, flags.clients)
            many = max(many, rate)
            while_busy = min(while_busy, first_tokens(server.port, flags.clients, flags.clients * flags.tokens / rate))
            if flags.llama:
                with Llama(path) as llama:
                    texts_at_once(llama.port, 1)
                    theirs = max(theirs, texts_at_once(llama.port, flags.clients)[0])
    row(f"{flags.clients} clients x {flags.tokens} tokens, vs. one client", many, one, "tokens/s", many / one, "5")
    row(f"first token among {flags.clients} clients, vs. idle", 1e3 * while_busy, 1e3 * first, "ms", while_busy / first,
        "3", "at most")
    if flags.llama:
        row(f"{flags.clients} clients, vs. llama.cpp server", many, theirs, "tokens/s", many / theirs, "1.2")


def measure_prefix(tokens=1000):
    """Ids of tokens, so that the texts have as many tokens as they should."""
    chance, first, again = random.Random(1), 1e9, 1e9
    with Attend(f"lm={flags.llm}") as server:
        def first_token(prefix):
            times = []
            complete(server.port, prefix + [chance.randrange(1000, 20000) for _ in range(10)], 4, times)
            return times[0][1] - times[0][0]

        first_token([5])
        for _ in range(flags.rounds):
            prefix = [chance.randrange(1000, 20000) for _ in range(tokens)]
            first, again = min(first, first_token(prefix)), min(again, first_token(prefix), first_token(prefix))
    row(f"first token after {tokens} tokens, vs. read before", 1e3 * first, 1e3 * again, "ms", first / again, "10")


def conversations_at_once(port, clients, turns, run):
    """Each client goes on with its own conversation: what was said so far, the reply, and some more words. Returns generated tokens per
    second."""
    times = []

    def talk(number):
        text = f"run {run} "
        for turn in range(turns):
            text += " ".join(prompt(1000 * run + 17 * number + turn + i) for i in range(3))
            text += complete(port, text, flags.tokens, times)

    at_once(talk, clients)
    seconds = max(end for _, _, end in times) - min(begin for begin, _, _ in times)
    return clients * turns * flags.tokens / seconds


def measure_conversations(clients=16, turns=3):
    ours, theirs = 0, 0
    with tempfile.TemporaryDirectory(dir="build") as here:
        path = os.path.abspath(f"{here}/lm.gguf")
        subprocess.run([flags.program, "convert", "--model", flags.llm, "--output", path], check=True, stderr=subprocess.DEVNULL)
        with Attend(f"lm={flags.llm}") as server, Llama(path, clients, 1024) as llama:
            for port in (server.port, llama.port):
                complete(port, "warm", 4, [])
            for run in range(flags.rounds):
                ours = max(ours, conversations_at_once(server.port, clients, turns, run))
                theirs = max(theirs, conversations_at_once(llama.port, clients, turns, run))
    row(f"{clients} conversations of {turns} turns, vs. llama.cpp server", ours, theirs, "tokens/s", ours / theirs, "2")


def embed_some(port, texts, latencies):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for text in texts:
        begin = time.perf_counter()
        body = {"model": "e", "input": text, "encoding_format": "base64", "long": "truncate"}
        connection.request("POST", "/v1/embeddings", json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        assert response.status == 200, response.status
        latencies.append(time.perf_counter() - begin)


def measure_embeddings(clients=64, each=40):
    texts = [" ".join(prompt(number + i) for i in range(3)) for number in range(clients * each)]
    served, alone = 0, 0
    with Attend(f"e={flags.embedder}") as server, tempfile.NamedTemporaryFile("w", dir="build", suffix=".txt") as file:
        file.write("".join(text + "\n" for text in texts))
        file.flush()
        command = [flags.program, "--threads", str(flags.threads), "embed", "--model", flags.embedder, "--output",
                   file.name + ".f32", "--input"]
        for _ in range(flags.rounds):
            begin = time.perf_counter()
            at_once(lambda client: embed_some(server.port, texts[client::clients], []), clients)
            served = max(served, len(texts) / (time.perf_counter() - begin))
            begin = time.perf_counter()
            subprocess.run([*command, file.name], check=True, stderr=subprocess.DEVNULL)
            with_start = time.perf_counter() - begin
            begin = time.perf_counter()
            subprocess.run([*command, "/dev/null"], check=True, stderr=subprocess.DEVNULL)
            alone = max(alone, len(texts) / (with_start - (time.perf_counter() - begin)))
        os.remove(file.name + ".f32")
    row(f"{clients} clients embedding, vs. attend embed", served, alone, "texts/s", served / alone, "0.85")


def measure_latency():
    with Attend(f"e={flags.small}") as server:
        latencies = []
        embed_some(server.port, [prompt(number) for number in range(300)], latencies)
    added = 1e3 * statistics.median(latencies[50:])
    row("overhead of HTTP", added, 0, "ms", added, "2", "at most")


def measure_against(clients=64, each=20):
    """The same requests to two builds of Attend, alternately."""
    jobs = {}
    if flags.gpt2:
        jobs[f"{flags.clients} clients x {flags.tokens} tokens"] = lambda port: texts_at_once(port, flags.clients)[0]
        jobs[f"one client x {flags.tokens} tokens"] = lambda port: texts_at_once(port, 1)[0]
    if flags.embedder:
        texts = [" ".join(prompt(number + i) for i in range(3)) for number in range(clients * each)]

        def embed(port):
            begin = time.perf_counter()
            at_once(lambda client: embed_some(port, texts[client::clients], []), clients)
            return len(texts) / (time.perf_counter() - begin)

        jobs[f"{clients} clients embedding"] = embed
    models = [f"{name}={folder}" for name, folder in (("lm", flags.gpt2), ("e", flags.embedder)) if folder]
    with Attend(*models) as ours, Attend(*models, program=flags.against) as theirs:
        for name, job in jobs.items():
            rates = [[job(server.port) for server in (ours, theirs)] for _ in range(flags.rounds + 1)][1:]
            mine, other = (max(side) for side in zip(*rates))
            row(f"{name}, vs. the other build", mine, other, "/s", mine / other, "0.98")


print(f"{'':44} {'ours':>9} {'other':>9} {'':9} {'ratio':>6}   bar")
if flags.against:
    measure_against()
    raise SystemExit
if flags.gpt2:
    measure_generation()
if flags.llm:
    measure_prefix()
if flags.llm and flags.llama:
    measure_conversations()
if flags.embedder:
    measure_embeddings()
if flags.small:
    measure_latency()
