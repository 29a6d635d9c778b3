#!/usr/bin/env python3
# The server behind nginx and HAProxy, which keep their connections to it: ordinary requests, chunked bodies, streams,
# clients that hang up, and attempts to hide a request in the body of another one (request smuggling).
#   tests/proxies/proxies.py [--program build/release/attend]
import argparse
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
NAME = "translate.example"
parser = argparse.ArgumentParser()
parser.add_argument("--program", default="build/release/attend")
flags = parser.parse_args()
folder = tempfile.mkdtemp(prefix="attend-proxies-")
processes = []
failures = 0


def check(holds, what):
    global failures
    failures += not holds
    if not holds:
        print(f"FAILED: {what}", file=sys.stderr)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start_server():
    server = subprocess.Popen([flags.program, "serve", "--port", "0", "--allowed-host", NAME,
                               "--model", f"gpt2={ROOT}/models/fixtures/gpt2_tokenizer"], stderr=subprocess.PIPE, text=True)
    processes.append(server)
    return int(re.search(r"http://[^ ]*:(\d+)", server.stderr.readline())[1])


def start_nginx(backend):
    port = free_port()
    with open(f"{folder}/nginx.conf", "w") as file:
        file.write(f"""daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{}}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream attend {{ server 127.0.0.1:{backend}; keepalive 1; }}
  server {{
    listen 127.0.0.1:{port}; client_max_body_size 20m;
    location / {{
      proxy_pass http://attend; proxy_http_version 1.1; proxy_request_buffering off; proxy_buffering off;
      proxy_set_header Connection ""; proxy_set_header Host $http_host;
    }}
  }}
}}
""")
    processes.append(subprocess.Popen([shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-c",
                                       f"{folder}/nginx.conf", "-e", f"{folder}/nginx.log"]))
    return port


def start_haproxy(backend):
    port = free_port()
    with open(f"{folder}/haproxy.cfg", "w") as file:
        file.write(f"""defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend clients
  bind 127.0.0.1:{port}
  default_backend attend
backend attend
  http-reuse always
  option abortonclose
  server attend 127.0.0.1:{backend}
""")
    processes.append(subprocess.Popen([shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin"), "-q", "-f",
                                       f"{folder}/haproxy.cfg"], stderr=subprocess.DEVNULL))
    return port


def wait_for(port):
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
    sys.exit(f"nothing listens at {port}")


def ask(connection, method, path, body=None, headers=None):
    connection.request(method, path, body, {"Host": NAME, "Content-Type": "application/json", **(headers or {})},
                       encode_chunked=headers is not None and "Transfer-Encoding" in headers)
    response = connection.getresponse()
    return response.status, response.read().decode()


def raw(port, data, patience=1.0):
    """What comes back within a time."""
    with socket.create_connection(("127.0.0.1", port), 5) as one:
        one.settimeout(patience)
        got = b""
        try:
            one.sendall(data)
            while part := one.recv(65536):
                got += part
        except OSError:
            pass
        return got


def metric(port, name):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    text = ask(connection, "GET", "/metrics")[1]
    return re.search(rf"^{re.escape(name)} (\S+)", text, re.M)[1]


BODY = {"model": "gpt2", "prompt": "The", "max_tokens": 4}


def ordinary(name, port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    for i in range(50):  # on one connection
        check(ask(connection, "GET", "/health")[0] == 200, f"{name}: keep-alive, request {i}")
        check(ask(connection, "POST", "/v1/completions", json.dumps(BODY))[0] == 200, f"{name}: completion {i}")
    pieces = [json.dumps(BODY)[i:i + 3].encode() for i in range(0, len(json.dumps(BODY)), 3)]
    status, text = ask(connection, "POST", "/v1/completions", iter(pieces), {"Transfer-Encoding": "chunked"})
    check(status == 200, f"{name}: a chunked body: {status} {text}")
    large = json.dumps({**BODY, "prompt": "x" * 6_000_000})
    status, text = ask(connection, "POST", "/v1/tokenize", large.replace("prompt", "other"))
    check(status == 400 and "input" in text, f"{name}: a large body: {status} {text[:200]}")
    status, _ = ask(http.client.HTTPConnection("127.0.0.1", port), "POST", "/v1/completions", " " * 9_000_000)
    check(status == 413, f"{name}: a body that is too large: {status}")
    status, text = ask(connection, "GET", "/health", headers={"Host": "evil.example"})
    check(status == 403, f"{name}: a foreign host: {status}")
    status, text = ask(connection, "GET", "/health", headers={"Origin": f"https://{NAME}"})
    check(status == 200, f"{name}: the own origin: {status}")
    status, text = ask(connection, "GET", "/v1/models", headers={"Origin": "https://evil.example"})
    check(status == 403, f"{name}: a foreign origin: {status}")


def streams(name, port, backend):
    body = {**BODY, "max_tokens": 3000, "stream": True, "ignore_eos": True, "long": "slide"}
    headers = {"Host": NAME, "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/v1/completions", json.dumps(body), headers)
    response = connection.getresponse()
    first = response.read1(10)
    check(metric(backend, 'attend_running_texts{model="gpt2"}') == "1", f"{name}: a stream arrives while it is generated")
    rest = response.read()
    check(first.startswith(b"data: ") and rest.endswith(b"data: [DONE]\n\n"), f"{name}: a stream is whole")
    for stream in (True, False):
        lost = socket.create_connection(("127.0.0.1", port), 5)
        text = json.dumps({**body, "max_tokens": 10_000, "stream": stream})
        lost.sendall(f"POST /v1/completions HTTP/1.1\r\nHost: {NAME}\r\nContent-Type: application/json\r\n"
                     f"Content-Length: {len(text)}\r\n\r\n{text}".encode())
        for wanted in ("1", "0"):
            for _ in range(100):
                if metric(backend, 'attend_running_texts{model="gpt2"}') == wanted:
                    break
                time.sleep(0.05)
            else:
                check(False, f"{name}: stream {stream}: a client that hangs up: texts are not {wanted}")
            if wanted == "1":
                lost.close()


def smuggling(name, port):
    hidden = f"GET /smuggled HTTP/1.1\r\nHost: {NAME}\r\nX: "
    n = len(hidden)
    chunk = f"{n:x}\r\n{hidden}\r\n0\r\n\r\n"
    host = f"Host: {NAME}\r\n"
    attempts = []
    for method in ("GET", "HEAD", "OPTIONS", "DELETE", "POST", "PUT"):
        for path in ("/health", "/v1/models", "/v1/completions", "/nothing"):
            line = f"{method} {path} HTTP/1.1\r\n{host}"
            attempts.append(f"{line}Content-Length: {n}\r\n\r\n{hidden}")
            attempts.append(f"{line}Transfer-Encoding: chunked\r\n\r\n{chunk}")
    post = f"POST /v1/completions HTTP/1.1\r\n{host}Content-Type: application/json\r\n"
    zero = f"0\r\n\r\n{hidden}"
    for encoding in ("Transfer-Encoding: chunked", "Transfer-Encoding: xchunked", "Transfer-Encoding : chunked",
                     "Transfer-Encoding:\tchunked", "Transfer-Encoding: chunked, identity", "Transfer-Encoding: CHUNKED",
                     "Transfer-Encoding:\x0bchunked", "Transfer-Encoding: \"chunked\"", "X: y\r\n Transfer-Encoding: chunked",
                     "X: y\nTransfer-Encoding: chunked", "X: y\rTransfer-Encoding: chunked", "Transfer_Encoding: chunked",
                     "Transfer-Encoding: chunked\r\nTransfer-Encoding: x", "Transfer-Encoding\r\n: chunked"):
        attempts.append(f"{post}Content-Length: {len(zero)}\r\n{encoding}\r\n\r\n{zero}")
        attempts.append(f"{post}{encoding}\r\nContent-Length: 4\r\n\r\n{n:x}\r\n{hidden}\r\n0\r\n\r\n")
    for length in (f"+{n}", f"0, {n}", f"{n} ", f"0x{n:x}", f"0\r\nContent-Length: {n}", f"{n}\r\nContent-Length: 0", f"0{n}"):
        attempts.append(f"{post}Content-Length: {length}\r\n\r\n{hidden}")
    for size in (f"0x{n:x}", f"+{n:x}", f" {n:x}", f"{n:x};\n", f"-1", f"{n:x}\r\n\n", "0;\r"):
        attempts.append(f"{post}Transfer-Encoding: chunked\r\n\r\n{size}\r\n{hidden}\r\n0\r\n\r\n")
    attempts.append(f"GET http://{NAME}/health HTTP/1.1\r\n{host}Content-Length: {n}\r\n\r\n{hidden}")
    attempts.append(f"GET /health HTTP/1.1\r\n{host}Host: other\r\nContent-Length: {n}\r\n\r\n{hidden}")
    for attempt in attempts:
        raw(port, attempt.encode("latin1"), 0.03)
        # The next client of the same proxy must get its own answer.
        got = raw(port, f"GET /ready HTTP/1.1\r\n{host}Connection: close\r\n\r\n".encode(), 3)
        check(got.startswith(b"HTTP/1.1 200") and got.endswith(b'{"status":"ready"}') and b"smuggled" not in got,
              f"{name}: the next client got {got!r} after {attempt!r}")
    print(f"{name}: {len(attempts)} attempts to smuggle a request")


try:
    backend = start_server()
    for name, start in (("nginx", start_nginx), ("haproxy", start_haproxy)):
        port = start(backend)
        wait_for(port)
        ordinary(name, port)
        streams(name, port, backend)
        smuggling(name, port)
    begin = time.monotonic()
    processes[0].send_signal(signal.SIGTERM)  # while the proxies keep their connections open
    check(processes[0].wait(timeout=20) == 0 and time.monotonic() - begin < 5, "the server ends within 5 seconds")
finally:
    for process in processes:
        process.terminate()
        process.wait()
    shutil.rmtree(folder)
print(f"proxies: {'passed' if failures == 0 else f'{failures} failures'}")
sys.exit(failures > 0)
