#!/usr/bin/env python3
"""Runs attend serve for a long time with many clients, good and bad, and checks that it stays alive, right and bounded.

  tests/load/soak.py [--hours 1] [--clients 200] [--program build/release/attend]

Clients use all endpoints. Some hang up at random points, write or read slowly, or send garbage; files of the models are
replaced meanwhile. Every answer must be that of the program, or of the idle server where the program has no such verb.
The server's memory, measured when the clients pause, must not grow, and SIGTERM must end it within 5 seconds: under this load, and in short runs of their
own for each state of a connection. Prints one line, and exits with 0 if all is well. Needs only Python.
"""
import argparse
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FOLDERS = {"gpt2": "models/fixtures/gpt2_tokenizer", "changed": "models/fixtures/gpt2_tokenizer",
           "it-en": "models/fixtures/marian_tokenizer", "sentences": "tasks/fixtures/sentence_mean",
           "labels": "tasks/fixtures/bert_labels", "words": "tasks/fixtures/bert_words", "t5": "models/fixtures/t5_tokenizer"}
WORDS = "to be or not that is the question once upon a time there was king who had no hair at all essere o non".split()
MOST_SECONDS = 5  # from SIGTERM to the end of the server

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--hours", type=float, default=1)
parser.add_argument("--clients", type=int, default=200)
parser.add_argument("--program", default="build/release/attend")
flags = parser.parse_args()


class Server:
    """A server of these models. Its standard error is closed after the first line."""

    def __init__(self, models, *more):
        arguments = [argument for name, folder in models.items() for argument in ("--model", f"{name}={folder}")]
        self.process = subprocess.Popen([flags.program, "serve", *arguments, "--port", "0", *more], stderr=subprocess.PIPE,
                                        text=True)
        line = self.process.stderr.readline()
        self.process.stderr.close()
        found = re.search(r"http://[^ ]*:(\d+)", line)
        if not found:
            sys.exit(f"the server does not start: {line}")
        self.port = int(found[1])

    def megabytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) / 1024

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def end(self):
        """Seconds from SIGTERM to the end, and the exit code."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        return time.monotonic() - begin, code


def ask(port, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    if body is None:
        connection.request("GET", path)
    else:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response.status, data


def head(method, path, length, more=""):
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{more}Content-Length: {length}\r\n\r\n"


def connect(port, receive_buffer=None):
    one = socket.socket()
    if receive_buffer:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    one.settimeout(120)
    one.connect(("127.0.0.1", port))
    return one


def program(*arguments, lines):
    done = subprocess.run([flags.program, *arguments], input="".join(line + "\n" for line in lines), check=True,
                          stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def content(path, body, data):
    """What must be the same in every answer."""
    if body and body.get("stream"):
        text = data.decode()
        assert text.endswith("data: [DONE]\n\n"), text[-300:]
        return "".join(json.loads(line[6:])["choices"][0]["text"] for line in text.splitlines() if line.startswith("data: {"))
    answer = json.loads(data)
    if path == "/v1/completions":
        return answer["choices"][0]["text"]
    if path == "/v1/chat/completions":
        return answer["choices"][0]["message"]["content"]
    if path == "/v1/embeddings":
        return answer["data"][0]["embedding"]
    if path == "/v1/summarize":
        return {key: answer["data"][0][key] for key in ("summary", "ids", "sentences")}
    return answer["translatedText"] if path == "/translate" else answer


def same(got, expected):
    if isinstance(expected, float) or isinstance(got, float):
        return abs(got - expected) < 1e-4
    if isinstance(expected, list):
        return len(got) == len(expected) and all(map(same, got, expected))
    if isinstance(expected, dict):
        return got.keys() == expected.keys() and all(same(got[key], expected[key]) for key in expected)
    return got == expected


def jobs_of(models, port):
    """Requests and their right answers: (path, body, answer)."""
    chance = random.Random(1)
    texts = [" ".join(chance.choices(WORDS, k=chance.randint(1, 5))) for _ in range(12)]
    jobs = []
    for tokens in (2, 60):
        for seed in (None, 7):
            more = ["--max-new-tokens", str(tokens), "--long", "slide"]
            more += ["--greedy"] if seed is None else ["--temperature", "1.5", "--seed", str(seed)]
            body = {"max_tokens": tokens, "temperature": 0 if seed is None else 1.5, "seed": seed, "long": "slide"}
            for text, line in zip(texts, program("generate", "--model", models["gpt2"], "--json", *more, lines=texts)):
                for name in ("gpt2", "changed"):
                    jobs.append(("/v1/completions", {**body, "model": name, "prompt": text}, line["text"]))
                jobs.append(("/v1/completions", {**body, "model": "gpt2", "prompt": text, "stream": True}, line["text"]))
    for text, line in zip(texts, program("translate", "--model", models["it-en"], "--json", lines=texts)):
        jobs.append(("/translate", {"q": text, "source": "it", "target": "en", "model": "it-en"}, line["translation"]))
    short = {"model": "t5", "max_tokens": 9, "max_source_tokens": 30, "sentences": True}  # so that some are read in parts
    documents = [". ".join(texts[:i + 1]).capitalize() + "." for i in range(len(texts))]
    for text, line in zip(documents, program("summarize", "--model", models["t5"], "--json", "--max-tokens", "9",
                                             "--max-source-tokens", "30", lines=documents)):
        jobs.append(("/v1/summarize", {**short, "input": text}, {key: line[key] for key in ("summary", "ids", "sentences")}))
    for text, line in zip(texts, program("embed", "--model", models["sentences"], "--json", lines=texts)):
        jobs.append(("/v1/embeddings", {"model": "sentences", "input": text}, line["embedding"]))
    asked = [("/v1/lessons/positions?width=256&length=200", None), ("/v1/lessons/pooling?seed=3", None), ("/v1/models", None),
             ("/languages", None), ("/health", None), ("/openapi.json", None),
             ("/detect", {"q": "essere o non essere"}), ("/v1/tokenize", {"model": "gpt2", "input": "once upon a time " * 4000}),
             ("/v1/embeddings", {"model": "sentences", "input": "be or not " * 3000, "long": "split"}),
             ("/translate", {"q": "essere. O non\n" * 40, "source": "it", "target": "en"})]
    for text in texts:
        asked += [("/v1/classify", {"model": "labels", "input": [text, "a"]}), ("/v1/tokenize", {"model": "it-en", "input": text}),
                  ("/v1/fill-mask", {"model": "words", "input": "a [MASK]"}),
                  ("/v1/attention", {"model": "sentences", "input": "a b"}), ("/v1/attention", {"model": "it-en", "input": text}),
                  ("/v1/chat/completions", {"model": "gpt2", "temperature": 0, "max_tokens": 4,
                                            "messages": [{"role": "user", "content": text}]})]
    for path, body in asked:
        status, data = ask(port, path, body)
        if status != 200:
            sys.exit(f"{path} {json.dumps(body)[:200]}: {status} {data[:300]}")
        jobs.append((path, body, content(path, body, data)))
    return jobs


BAD = [b"\x16\x03\x01\x00garbage\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20000, b"\x00" * 5000,
       head("POST", "/v1/completions", 1 << 40).encode(), head("POST", "/v1/completions", 9).encode() + b"{\"model\":",
       b"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"]
WRONG = [("/v1/completions", "{"), ("/v1/completions", "[" * 100000), ("/v1/completions", "\"x\""), ("/v1/completions", "{}"),
         ("/v1/completions", '{"model":"gpt2","prompt":5}'), ("/v1/completions", '{"model":"gpt2","prompt":"a","n":-1}'),
         ("/v1/completions", '{"model":"gpt2","prompt":[' + ",".join(['""'] * 5000) + "]}"),
         ("/v1/completions", '{"model":"none","prompt":"a"}'), ("/v1/embeddings", '{"model":"gpt2","input":"a"}'),
         ("/translate", '{"q":[],"source":"it","target":"en"}'), ("/translate", '{"q":"a","source":"xx","target":"yy","model":"it-en"}'),
         ("/v1/classify", '{"model":"labels","input":"' + "a " * 5000 + '"}'), ("/nothing", "{}"),
         ("/v1/attention", '{"model":"sentences","input":"a","layers":"all"}'), ("/v1/summarize", '{"model":"words","input":"a"}'),
         ("/v1/summarize", '{"model":"t5","input":"a","source_prefix":"' + "a " * 5000 + '","max_source_tokens":100}')]
LARGE = [("/translate", {"q": "a. B\n" * 15000, "source": "it", "target": "en"}), ("/v1/tokenize", {"model": "it-en", "input": "ab " * 50000}),
         ("/v1/embeddings", {"model": "sentences", "input": "a b " * 20000, "long": "split"}), ("/detect", {"q": "essere " * 50000}),
         ("/v1/summarize", {"model": "t5", "input": "To be. Or not. " * 10000, "max_source_tokens": 60, "sentences": True})]


class Count:
    def __init__(self):
        self.lock, self.numbers, self.shown = threading.Lock(), {}, 0

    def add(self, what, problem=None):
        with self.lock:
            self.numbers[what] = self.numbers.get(what, 0) + 1
            if problem and self.shown < 10:
                self.shown += 1
                print(f"{what}: {problem}", file=sys.stderr, flush=True)

    def __str__(self):
        return ", ".join(f"{count} {what}" for what, count in sorted(self.numbers.items()))


class Client:
    def __init__(self, number, port, jobs, count):
        self.chance, self.port, self.jobs, self.count = random.Random(number), port, jobs, count
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.changed = threading.Event()  # a file of the model "changed" is being overwritten
        self.ending = threading.Event()   # the server has its SIGTERM
        self.pause, self.paused = threading.Event(), threading.Event()

    def run(self):
        kinds = [(0.86, self.good), (0.03, self.hang_up), (0.02, self.slow_writer), (0.02, self.slow_reader), (0.03, self.bad),
                 (0.03, self.wrong), (0.01, self.large)]
        while not self.ending.is_set():
            while self.pause.is_set() and not self.ending.is_set():
                self.paused.set()
                time.sleep(0.1)
            self.paused.clear()
            do = self.chance.choices([kind for _, kind in kinds], [share for share, _ in kinds])[0]
            try:
                do()
            except (OSError, http.client.HTTPException, AssertionError, ValueError, KeyError) as error:
                self.connection.close()
                if not self.ending.is_set():
                    self.count.add("errors", f"{do.__name__}: {error!r}")

    def good(self):
        path, body, expected = self.chance.choice(self.jobs)
        response = self.request(path, None if body is None else json.dumps(body))
        self.judge(path, body, expected, response.status, response.read())

    def request(self, path, body):
        """A request on the connection that is kept. If the server has closed it since, as it may, a new one is opened."""
        kept = self.connection.sock is not None
        try:
            if body is None:
                self.connection.request("GET", path)
            else:
                self.connection.request("POST", path, body, {"Content-Type": "application/json"})
            return self.connection.getresponse()
        except (ConnectionError, http.client.RemoteDisconnected):
            self.connection.close()
            if not kept:
                raise
            if not self.ending.is_set():
                self.count.add("reconnected")
            return self.request(path, body)

    def judge(self, path, body, expected, status, data):
        if self.ending.is_set():
            return
        if status == 429 or (status == 503 and b"memory_full" in data):
            self.count.add("refused")
            time.sleep(self.chance.random())
        elif status == 503 and body and body.get("model") == "changed" and self.changed.is_set() and b"model_changed" in data:
            self.count.add("refused since a file was changed")
        elif status != 200:
            self.count.add("errors", f"{path}: {status} {data[:300]}")
        elif same(content(path, body, data), expected):
            self.count.add("right")
        else:
            self.count.add("wrong", f"{path} {json.dumps(body)[:200]}: got {data[:300]}, expected {str(expected)[:300]}")

    def post(self, path, body):
        data = json.dumps(body).encode()
        return head("POST", path, len(data), "Connection: close\r\n").encode() + data

    def some_post(self):
        while True:
            path, body, expected = self.chance.choice(self.jobs)
            if body is not None:
                return path, body, expected

    def hang_up(self):
        path, body, _ = self.some_post()
        data = self.post(path, body)
        with connect(self.port) as one:
            one.sendall(data[:self.chance.randint(0, len(data))] if self.chance.random() < 0.5 else data)
            if self.chance.random() < 0.5:
                time.sleep(self.chance.random() / 20)
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset instead of an orderly end
        self.count.add("hung up")

    @staticmethod
    def split(data):
        start, _, rest = data.partition(b"\r\n\r\n")
        status = int(start.split(b" ")[1])
        if b"chunked" not in start.lower():
            return status, rest
        body = b""
        while True:
            size, _, rest = rest.partition(b"\r\n")
            if int(size, 16) == 0:
                return status, body
            body, rest = body + rest[:int(size, 16)], rest[int(size, 16) + 2:]

    def slow_writer(self):
        path, body, expected = self.some_post()
        data = self.post(path, body)
        with connect(self.port) as one:
            step = max(len(data) // 10, 1)
            for at in range(0, len(data), step):
                one.sendall(data[at:at + step])
                time.sleep(0.02)
            got = b""
            while part := one.recv(1 << 16):
                got += part
        self.judge(path, body, expected, *self.split(got))

    def slow_reader(self):
        path, _, expected = self.jobs_by_path("/v1/lessons/positions")
        with connect(self.port, 4096) as one:
            one.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            got = b""
            while part := one.recv(1 << 14):
                got += part
                time.sleep(0.01)
        self.judge(path, None, expected, *self.split(got))

    def jobs_by_path(self, start):
        return next(job for job in self.jobs if job[0].startswith(start))

    def bad(self):
        with connect(self.port) as one:
            try:
                one.sendall(self.chance.choice(BAD))
                one.shutdown(socket.SHUT_WR)
                got = one.recv(1 << 16)
            except ConnectionError:
                got = b""
        if got and not got.startswith(b"HTTP/1.1 4"):
            raise ValueError(f"answered {got[:100]}")
        self.count.add("bad refused")

    def wrong(self):
        path, body = self.chance.choice(WRONG)
        response = self.request(path, body)
        data = response.read()
        if not (400 <= response.status < 500 or b"memory_full" in data) and not self.ending.is_set():
            raise ValueError(f"{path} {body[:100]}: {response.status} {data[:200]}")
        self.count.add("bad refused")

    def large(self):
        path, body = self.chance.choice(LARGE)
        with connect(self.port) as one:
            one.sendall(self.post(path, body))
            one.settimeout(self.chance.random() * 3)
            try:
                while one.recv(1 << 16):
                    pass
            except TimeoutError:
                pass
        self.count.add("large")


def copy_models(to):
    models = {}
    for name, folder in FOLDERS.items():
        models[name] = os.path.join(to, name)
        shutil.copytree(os.path.join(TESTS, folder), models[name])
    return models


def replace_by_rename(path):
    with open(path + ".new", "wb") as file:
        file.write(b"something else")
    os.rename(path + ".new", path)


def end_in_state(models, state):
    """Sends SIGTERM while a connection is in a state. Returns what is wrong, or nothing."""
    server = Server({name: models[name] for name in ("gpt2", "it-en")}, "--max-batch-rows", "1")
    endless = {"model": "gpt2", "prompt": "The", "max_tokens": 16000, "ignore_eos": True, "long": "slide", "temperature": 1.5}
    post = lambda body, path="/v1/completions": head("POST", path, len(json.dumps(body))).encode() + json.dumps(body).encode()
    sends = {"idle": [b""], "in a header": [b"POST /v1/comp"], "in a body": [head("POST", "/v1/completions", 1000).encode() + b"{"],
             "queued": [post(endless)] * 3, "streaming, unread": [post({**endless, "stream": True})] * 2,
             "a large answer, unread": [b"GET /v1/lessons/positions?width=1024&length=2048 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"] * 2,
             "a large text": [post({"q": "a. B\n" * 60000, "source": "it", "target": "en"}, "/translate")]}
    connections = []
    for data in sends[state]:
        connections.append(connect(server.port, 4096))
        connections[-1].sendall(data)
    time.sleep(0.5)
    seconds, code = server.end()
    for one in connections:
        one.close()
    if code != 0 or seconds > MOST_SECONDS:
        return f"SIGTERM, {state}: ended with {code} after {seconds:.1f} s"
    return None


def quiet_memory(server, clients):
    """Megabytes when no request is being answered."""
    for one in clients:
        one.pause.set()
    for one in clients:
        one.paused.wait(60)
    time.sleep(1)
    used = server.megabytes()
    for one in clients:
        one.pause.clear()
    return used


STATES = ["idle", "in a header", "in a body", "queued", "streaming, unread", "a large answer, unread", "a large text"]


def main():
    seconds = 3600 * flags.hours
    with tempfile.TemporaryDirectory() as folder:
        models = copy_models(folder)
        problems = [problem for state in STATES if (problem := end_in_state(models, state))]
        # Twice as many connections as clients: a full server would close the idle ones of the good clients.
        server = Server(models, "--connections", str(2 * flags.clients + 16))
        jobs = jobs_of(models, server.port)
        count = Count()
        clients = [Client(number, server.port, jobs, count) for number in range(flags.clients)]
        threads = [threading.Thread(target=one.run, daemon=True) for one in clients]
        for one in threads:
            one.start()
        begin, used, last, changed = time.monotonic(), [], 0, False
        # The memory is measured after a warm-up, then at equal distances, while the clients pause.
        warm = min(300, seconds / 3)
        pauses = 12 if seconds >= 600 else 1
        quiet = [warm + (seconds - warm) * i / pauses for i in range(pauses)]
        while (now := time.monotonic() - begin) < seconds and server.process.poll() is None:
            time.sleep(min(1, seconds / 20))
            if quiet and now > quiet[0]:
                quiet.pop(0)
                used.append(quiet_memory(server, clients))
            if now > seconds / 3 and os.path.getsize(models["gpt2"] + "/model.safetensors") > 100:
                for name in ("gpt2", "it-en"):
                    replace_by_rename(models[name] + "/model.safetensors")
            if now > 0.9 * seconds and not changed:
                changed = True
                for one in clients:
                    one.changed.set()
                shutil.copyfile(models["gpt2"] + "/model.safetensors", models["changed"] + "/model.safetensors")
            if now - last > 60:
                last = now
                print(f"{now:6.0f} s  {server.megabytes():.0f} MB  {server.threads()} threads  {count}", file=sys.stderr, flush=True)
        if server.process.poll() is not None:
            problems.append(f"the server ended with {server.process.returncode} after {now:.0f} s")
        elif b"model_changed" not in ask(server.port, "/ready")[1]:
            problems.append("/ready does not tell of the changed file")
        for one in clients:
            one.ending.set()
        took, code = server.end()
        if code != 0 or took > MOST_SECONDS:
            problems.append(f"SIGTERM under load: ended with {code} after {took:.1f} s")
        for one in threads:
            one.join(30)
    if count.numbers.get("wrong") or count.numbers.get("errors") or not count.numbers.get("right"):
        problems.append(f"answers: {count}")
    early, late = statistics.median(used[:4] or [0]), statistics.median(used[-4:] or [0])
    allowed = 1.01 * early if seconds >= 1800 else 2 * early + 64  # a short run says little
    if late > allowed:
        problems.append(f"memory grows: from {early:.0f} to {late:.0f} MB")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"soak: {'FAILED' if problems else 'passed'}: {seconds / 3600:.3g} h, {flags.clients} clients, {count}; "
          f"memory {early:.0f} -> {late:.0f} MB; SIGTERM {took:.1f} s")
    return 1 if problems else 0


sys.exit(main())
