"""A model service on this machine that plays a script, in the dialect that it is asked in.

One server serves one script. The place in the script is how many tool results the request carries, so that retries,
side questions and several attempts at once stay in step without any state of the server's own.
"""

import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Self, cast

from tests.agents.conversation import Conversation, Json, smallest
from tests.agents.dialects import Answer, Dialect
from tests.agents.dialects.anthropic import ANTHROPIC
from tests.agents.dialects.chat import CHAT
from tests.agents.dialects.gemini import GEMINI
from tests.agents.dialects.responses import RESPONSES
from tests.agents.script import Action, Fault, Say, Script, Usage, acts
from tests.agents.tools import use

_PLACES: tuple[tuple[str, Dialect], ...] = (
    (r"(?:/v1)?/messages", ANTHROPIC),
    (r"(?:/v1)?/chat/completions", CHAT),
    (r"(?:/v1)?/responses", RESPONSES),
    (r"/v1beta/models/[^/:]+:(?:streamGenerateContent|generateContent)", GEMINI),
)
_COUNTS = re.compile(r".*(?:/count_tokens|:countTokens)")
PAGE = "<!doctype html><html><head><title>Sign in to the network</title></head><body>Welcome.</body></html>"
PIECES_APART = 0.2
"""Seconds between the pieces of a slow answer."""


@dataclass(frozen=True)
class Asked:
    """One request, as the log keeps it."""

    path: str
    dialect: str = ""
    place: int | None = None
    """In the script; None for a side question."""
    prompt: str = field(default="", repr=False)
    tools: tuple[str, ...] = field(default=(), repr=False)
    fault: Fault | None = None
    action: Action | None = None
    usage: Usage | None = None
    """What was handed out."""


class Model:
    """The service; `with Model(script) as model:` listens at `model.url`."""

    def __init__(self, script: Script, fault: Fault | None = None) -> None:
        self.script = script
        self.fault = fault
        self.left = fault.times if fault else 0
        self.log: list[Asked] = []
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self.numbers = count(1)
        self.counts_sides = False
        self.http = _Http(("127.0.0.1", 0), _Handler)
        self.http.model = self
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.http.shutdown()
        self.http.server_close()

    @property
    def spent(self) -> int:
        """Return the tokens of all answers; side questions, such as one for a title, only where the agent counts them."""
        asked = (one for one in self.log if self.counts_sides or one.place is not None)
        return sum(one.usage.total for one in asked if one.usage)

    def note(self, asked: Asked) -> None:
        with self.lock:
            self.log.append(asked)

    def faulty(self, place: int | None) -> Fault | None:
        """Return the fault that is due, counting it; a side question meets one only where it lasts for ever."""
        with self.lock:
            if self.fault is None or self.left == 0 or (place or 0) != self.fault.at:
                return None
            if self.left is not None:
                if place is None:
                    return None
                self.left -= 1
            return self.fault

    def answer(self, asked: Conversation, model: str) -> tuple[Answer, Action | None]:
        """Return what the script says here; a side question gets the smallest answer that fits."""
        ident = f"{next(self.numbers):04d}"
        if not asked.tools:
            return Answer(ident, model, json.dumps(smallest(asked.schema)) if asked.schema else "A title"), None
        script = acts(self.script, asked.prompt)
        action = script[min(asked.results, len(script) - 1)]
        called = use(action, asked)
        words, ends = (action.text, action.ends) if isinstance(action, Say) else ("", "")
        return Answer(ident, model, words, (called,) if called else (), ends), action


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    model: Model

    def handle_error(self, request: object, client_address: object) -> None:
        """An agent that was killed closes its connections; that is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    @property
    def service(self) -> Model:
        return cast("_Http", self.server).model

    def do_GET(self) -> None:
        self.service.note(Asked(self.path))
        self._json(200, {"object": "list", "data": [], "models": [], "has_more": False})

    do_HEAD = do_GET  # noqa: N815  # the name that the library calls

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        body = self._body()
        if _COUNTS.fullmatch(path):
            self.service.note(Asked(self.path))
            self._json(200, {"input_tokens": 1000, "totalTokens": 1000})
            return
        dialect = next((found for pattern, found in _PLACES if re.fullmatch(pattern, path)), None)
        if dialect is None:
            self.service.note(Asked(self.path))
            self._json(404, {"error": {"message": f"nothing at {path}"}})
            return
        model = re.search(r"models/([^/:]+):", path)
        streams = body.get("stream") or "streamGenerateContent" in path
        self._converse(dialect, body, model[1] if model else str(body.get("model")), streams=bool(streams))

    def _body(self) -> Json:
        if self.headers.get("Transfer-Encoding") == "chunked":
            raw = b""
            while size := int(self.rfile.readline(), 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        return body if isinstance(body, dict) else {}

    def _converse(self, dialect: Dialect, body: Json, model: str, *, streams: bool) -> None:
        asked = dialect.hear(body)
        answer, action = self.service.answer(asked, model)
        place = asked.results if asked.tools else None
        fault = self.service.faulty(place)
        refused = fault is not None and (fault.status or fault.way in ("html", "cut", "stall"))
        tools = tuple(asked.tools)
        usage = None if refused else answer.usage
        self.service.note(Asked(self.path, dialect.name, place, asked.prompt, tools, fault, action, usage))
        if fault and fault.status:
            complaint = dialect.complain(fault.status, fault.wait)
            self._json(fault.status, complaint.body, complaint.headers)
        elif fault and fault.way == "html":
            self._send(200, "text/html", PAGE.encode(), ())
        elif streams:
            self._stream(dialect, answer, fault.way if fault else "")
        elif fault and fault.way in ("cut", "stall"):
            self._hold(fault.way)
        else:
            self._json(200, dialect.whole(answer))

    def _stream(self, dialect: Dialect, answer: Answer, way: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, (name, data) in enumerate(dialect.stream(answer)):
            text = data if isinstance(data, str) else json.dumps(data)
            line = f"event: {name}\ndata: {text}\n\n" if name else f"data: {text}\n\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line.encode()), line.encode()))
            self.wfile.flush()
            if number == 0 and way in ("cut", "stall"):
                self._hold(way)
                return
            if way == "slow":
                self.service.closing.wait(PIECES_APART)
        self.wfile.write(b"0\r\n\r\n")

    def _hold(self, way: str) -> None:
        """End the connection in the middle: at once, or when nobody waits any more."""
        self.close_connection = True
        if way == "stall":
            self.service.closing.wait()

    def _json(self, status: int, body: Json, headers: tuple[tuple[str, str], ...] = ()) -> None:
        self._send(status, "application/json", json.dumps(body).encode(), headers)

    def _send(self, status: int, kind: str, content: bytes, headers: tuple[tuple[str, str], ...]) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(content))), *headers):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
