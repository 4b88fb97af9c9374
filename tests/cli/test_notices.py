"""Whoever wants to know is told of a question and of the end, and a run is never held up or changed by telling it."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from santiago.app import notice
from santiago.app.loading import load
from tests.cli.conftest import Done
from tests.cli.greeter import GOOD, carry_out, make, out_dir, place
from tests.cli.inside import inside
from tests.cli.santiago import santiago

KEYS = {"run_id", "event", "text", "question", "answer_command"}
ASKS = GOOD.replace(
    '    - write: {bye.txt: "goodbye\\n"}\n', '    - ask: "Which \\e]8;;http://x\\e\\\\ bye is hunter2-hunter2?"\n'
)
WRONG = (
    "ftp://example.org", "file:///etc/passwd", "example.org/hook", "http://", "https://a b", "http://[::1",
    "http://u:p@example.org", "http://example.org:x", 3,
)  # fmt: skip


@contextmanager
def listening(*answers: int, to: str = "") -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve on this machine: yield the address and what is sent there; `answers` come first, then 204."""
    took: list[dict[str, Any]] = []
    waiting = list(answers)

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            took.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(waiting.pop(0) if waiting else 204)
            if to:
                self.send_header("Location", to)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            took.append({"event": "redirected"})
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Taking)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", took
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def hook(address: str) -> str:
    return f'[notify]\nwebhook = "{address}"\n'


def test_a_web_address_is_told_of_a_success_and_a_failing_command_changes_nothing(tmp_path: Path) -> None:
    with listening() as (address, took):
        repo = make(tmp_path / "repo", limits=f'{hook(address)}command = ["false"]\n')
        ran = carry_out(repo)
    assert ran.returncode == 0, ran.stderr
    (said,) = took
    assert set(said) == KEYS
    assert (said["run_id"], said["event"], said["question"]) == (out_dir(repo).name, "success", "")
    assert ran.stderr.count("[notify]") == ran.stderr.count("\nnote: [notify] command ") == 1, ran.stderr


def test_address_and_command_are_told_of_a_question_with_how_to_answer_it(tmp_path: Path) -> None:
    told = tmp_path / "told.ndjson"
    with listening() as (address, took):
        settings = f'{hook(address)}command = ["sh", "-c", "cat >> {told}"]\n'
        repo = make(tmp_path / "repo", ASKS, limits=settings)
        ran = carry_out(repo, {"MY_TOKEN": "hunter2-hunter2"})
    assert ran.returncode == 10, ran.stderr
    name = out_dir(repo).name
    asked, rests = took
    assert (asked["event"], asked["question"]) == ("question", "S2-1")
    assert asked["answer_command"] == f'santiago answer {name} S2-1 "YOUR ANSWER"'
    assert "bye is [" in asked["text"]
    assert "hunter2" not in json.dumps(took)
    assert "\x1b" not in asked["text"]
    assert "Answers: adjust, defer, stop" in asked["text"]
    assert (rests["event"], rests["question"]) == ("stop", "S2-1")
    lines = [json.loads(line) for line in told.read_text().splitlines()]
    assert [line["event"] for line in lines] == ["question", "stop"]
    assert (lines[1]["phase"], lines[1]["out_dir"]) == ("blocked", str(out_dir(repo)))
    words = asked["answer_command"].replace('"YOUR ANSWER"', "any").split()[1:]
    assert inside(*words, cwd=repo, env=place(repo)).returncode == 0
    assert "[notify]" not in ran.stderr


def test_an_address_that_hangs_or_where_nobody_listens_is_said_without_what_it_keeps_secret(
    tmp_path: Path, success: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notice, "SECONDS", 0.2)
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        (tmp_path / "santiago.toml").write_text(hook(f"http://127.0.0.1:{silent.getsockname()[1]}/"))
        said = notice.Notice(tmp_path).give(load(success.out_dir).state, success.out_dir)
    assert said == "[notify] webhook took longer than 0.2 s"
    with closing(socket.create_server(("127.0.0.1", 0))) as gone:
        port = gone.getsockname()[1]
    (tmp_path / "santiago.toml").write_text(hook(f"http://127.0.0.1:{port}/secret-path"))
    said = notice.Notice(tmp_path).give(load(success.out_dir).state, success.out_dir)
    assert said == "[notify] webhook could not be reached: Connection refused"


@pytest.mark.parametrize(
    ("answers", "tries", "why"),
    [((503, 503), 3, ""), ((503, 503, 503), 3, "answered 503"), ((404,), 1, "answered 404")],
)
def test_only_a_fault_of_the_other_side_is_tried_again_and_twice_at_most(
    answers: tuple[int, ...], tries: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notice, "PAUSE", 0)
    with listening(*answers) as (address, took):
        assert notice.post(address, {"event": "stop"}, 60) == why
    assert len(took) == tries


def test_a_message_is_not_sent_on_to_another_address() -> None:
    for code in (301, 302, 303, 307, 308):
        with listening() as (other, leaked), listening(code, to=other) as (address, _):
            assert notice.post(address, {"event": "stop"}, 60) == f"answered {code}"
        assert leaked == []


def test_an_address_that_is_none_is_refused_with_a_right_one(tmp_path: Path) -> None:
    for address in WRONG:
        (tmp_path / "santiago.toml").write_text(f"[notify]\nwebhook = {json.dumps(address)}\n")
        (tmp_path / ".git").mkdir(exist_ok=True)
        shown = inside("config", "show", cwd=tmp_path, env=place(tmp_path))
        assert (shown.returncode, "notify.webhook: an address" in shown.stderr) == (2, True), address
        assert 'webhook = "https://' in shown.stderr


def test_an_address_that_comes_with_a_repository_waits_for_a_person_s_word(tmp_path: Path) -> None:
    with listening() as (address, took):
        repo = make(tmp_path / "repo", limits=hook(address))
        ran = santiago("run", "prd.md", "--no-input", cwd=repo, env=place(repo), trusting=False)
    assert (ran.returncode, "notify.webhook" in ran.stderr, took) == (10, True, [])
