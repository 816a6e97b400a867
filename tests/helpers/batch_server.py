"""An endpoint that works off the files of the Batch API, and misbehaves by the line.

``Worker.work`` turns the lines of one file into the lines of an output and an error file.
``BatchServer`` puts it behind HTTP, as the `openai` package asks for it. What is billed is counted
here, by whoever does the work: every line that was run, whether its answer comes back or not.
"""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PLACE = re.compile(r"-q(\d+)-a(\d+)-t(\d+)$")
EXPIRED = {"code": "batch_expired", "message": "not executed before the window expired"}
BROKEN = {"error": {"message": "try later", "code": "server_error"}}


class Worker:
    """Answers lines; ``fault(custom_id)`` says what goes wrong with one.

    ``answer(question, copy)`` is the text of an answer. ``vllm`` writes errors as its run_batch
    does: beside a response without a body, in the same file, as an object or as a text.
    """

    def __init__(
        self,
        answer: Callable[[int, int], str],
        fault: Callable[[str], str] = lambda _: "",
        *,
        tokens: Callable[[int], int] = lambda _: 9,
        vllm: bool = False,
    ) -> None:
        self.answer = answer
        self.fault = fault
        self.tokens = tokens
        self.vllm = vllm
        self.billed: Counter[str] = Counter()  # how often each line was run
        self.read = 0
        self.written = 0

    def run(self, line: dict) -> dict:
        """Run one line, and bill it."""
        body = line["body"]
        number, copy, _ = map(int, PLACE.search(line["custom_id"]).groups())
        self.billed[line["custom_id"]] += 1
        # A tokenizer that takes every byte for a token, and a template that adds a few.
        read = sum(len(turn["content"].encode()) + 8 for turn in body["messages"]) + 40
        most = body.get("max_tokens") or body["max_completion_tokens"]
        written = min(self.tokens(sum(self.billed.values())), most)
        self.read += read
        self.written += written
        message = {"role": "assistant", "content": self.answer(number, copy)}
        logprob = {"logprob": -0.5, "top_logprobs": [{"logprob": -0.5}]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        if body.get("logprobs"):
            choice["logprobs"] = {"content": [logprob]}
        usage = {"prompt_tokens": read, "completion_tokens": written}
        return {"id": f"run-{sum(self.billed.values())}", "choices": [choice], "usage": usage}

    def work(self, sent: bytes) -> tuple[list[str], list[str]]:
        """Return the lines of the output file and of the error file."""
        out: list[str] = []
        errors: list[str] = []
        for text in sent.decode().splitlines():
            line = json.loads(text)
            assert set(line) == {"custom_id", "method", "url", "body"}
            assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
            name = line["custom_id"]
            fault = self.fault(name)
            result = {"id": f"line-{name}", "custom_id": name, "response": None, "error": None}
            if fault == "refused":
                self._fail(result, 400, "the prompt is filtered", out, errors)
            elif fault == "broken":
                self._fail(result, 503, BROKEN["error"], out, errors)
            elif fault == "expired":
                errors.append(json.dumps(result | {"error": EXPIRED}))
            elif fault == "expired and billed":
                self.run(line)
                errors.append(json.dumps(result | {"error": EXPIRED}))
            else:
                body = self.run(line)
                response = {"status_code": 200, "request_id": f"r-{name}", "body": body}
                whole = json.dumps(result | {"response": response})
                kept = {"lost": [], "cut": [whole[:-30]], "twice": [whole, whole]}
                out += kept.get(fault, [whole])
                if fault == "page":
                    out[-1] = json.dumps(result | {"response": response | {"body": "<html>"}})
        return out, errors

    def _fail(self, result: dict, status: int, why: object, out: list, errors: list) -> None:
        if self.vllm:
            response = {"status_code": status, "request_id": "r", "body": None}
            out.append(json.dumps(result | {"response": response, "error": why}))
            return
        body = {"error": why if isinstance(why, dict) else {"message": why}}
        response = {"status_code": status, "request_id": "r", "body": body}
        errors.append(json.dumps(result | {"response": response}))


def chaotic(rng: random.Random, share: float = 0.3) -> Callable[[str], str]:
    """Return a function that lets any line go wrong, now and then."""
    kinds = ("refused", "broken", "expired", "expired and billed", "lost", "cut", "twice", "page")
    return lambda _: rng.choice(kinds) if rng.random() < share else ""


class BatchServer:
    """``/files`` and ``/batches`` on loopback.

    A batch ends when it is asked about for the second time. ``ends`` is the status it then has;
    ``cut`` leaves so many bytes out at the end of an output file the first time it is fetched;
    ``breaks(path)`` says after which requests the connection is dropped, their work done.
    """

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.ends = "completed"
        self.cut = 0
        self.prefix = "file-"  # of the names of files
        self.breaks: Callable[[str], bool] = lambda _: False
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict] = {}
        self.fetched: Counter[str] = Counter()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer._handle(self, "GET")

            def do_POST(self):
                outer._handle(self, "POST")

            def log_message(self, *line):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> BatchServer:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handle(self, request: BaseHTTPRequestHandler, method: str) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        path = request.path.removeprefix("/v1").partition("?")[0]
        reply = self.reply(method, path, body, request.headers.get("Content-Type", ""))
        if self.breaks(f"{method} {path}"):
            request.close_connection = True
            request.connection.close()
            return
        request.send_response(200)
        is_file = isinstance(reply, bytes)
        data = reply if is_file else json.dumps(reply).encode()
        request.send_header("Content-Type", "application/binary" if is_file else "application/json")
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)

    def reply(self, method: str, path: str, body: bytes, kind: str) -> bytes | dict:
        """Do what a request asks for."""
        if (method, path) == ("POST", "/files"):
            form = BytesParser().parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
            (content,) = [
                part.get_payload(decode=True) for part in form.get_payload() if part.get_filename()
            ]
            return {"id": self._keep(content), "object": "file"}
        if (method, path) == ("POST", "/batches"):
            batch = {"id": f"batch-{len(self.batches)}", "object": "batch", "status": "validating"}
            self.batches[batch["id"]] = batch | json.loads(body)
            return self.batches[batch["id"]]
        if path == "/batches":
            return {"object": "list", "data": list(self.batches.values()), "has_more": False}
        if path.startswith("/batches/"):
            return self._asked_about(self.batches[path.removeprefix("/batches/")])
        name = path.removeprefix("/files/").removesuffix("/content")
        self.fetched[name] += 1
        content = self.files[name]
        return content[: -self.cut] if self.cut and self.fetched[name] == 1 else content

    def _keep(self, content: bytes) -> str:
        name = f"{self.prefix}{len(self.files)}"
        self.files[name] = content
        return name

    def _asked_about(self, batch: dict) -> dict:
        if batch["status"] == "validating":
            batch["status"] = "in_progress"
        elif batch["status"] == "in_progress":
            batch["status"] = self.ends
            if self.ends == "failed":
                batch["errors"] = {"data": [{"message": "the limit is used up", "code": "limit"}]}
                return batch
            sent = self.files[batch["input_file_id"]]
            out, errors = self.worker.work(sent)
            names = {"output_file_id": out, "error_file_id": errors}
            for name, lines in names.items():
                if lines:
                    batch[name] = self._keep("".join(f"{line}\n" for line in lines).encode())
            total = len(sent.splitlines())
            counts = {"total": total, "completed": len(set(out)), "failed": len(errors)}
            batch["request_counts"] = counts
        return batch
