"""Hostile and broken documents: one clear error with its exit code, nothing written, within 10 s and 1 GiB."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.inside import inside

MIB = 1024**2
GOOD = "# PRD\n### R1: One\n### R2: Two\n"
READS = """
import contextlib, io, json, resource, signal, sys
from santiago.cli.main import main
resource.setrlimit(resource.RLIMIT_AS, (1024**3, 1024**3))
for line in sys.stdin:
    document, out = json.loads(line)
    signal.alarm(20)
    told, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(said):
        code = main(["plan", document, "--out-dir", out])
    print(json.dumps([code, told.getvalue(), said.getvalue()]), flush=True)
"""
"""Plans each document that it is given; all of them have a gibibyte together, and each its own seconds."""


def _write(content: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_bytes(content)

    return make


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 * 1024**4)


def _bomb() -> bytes:
    levels = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    names = "abcdefghij"
    levels += [f"{n}: &{n} [{', '.join(f'*{p}' for _ in range(9))}]" for p, n in pairwise(names)]
    return ("requirements:\n  - id: R1\n    title: one\n" + "\n".join(levels)).encode()


BAD: dict[str, tuple[Callable[[Path], None], str]] = {
    "not UTF-8": (_write("# PRD\n### R1: caf\u00e9\n".encode("latin-1")), "not UTF-8"),
    "UTF-16": (_write("# PRD\n### R1: One\n".encode("utf-16")), "UTF-8"),
    "NUL bytes": (_write(b"# PRD\n### R1: One\0\n"), "NUL"),
    "too large": (_write(b"# PRD\n" + b"words and words\n" * (MIB + 1000)), "larger than 16 MiB"),
    "ten tebibytes, sparse": (_sparse, "larger than 16 MiB"),
    "ten thousand list levels": (_write(b"# PRD\n" + b"".join(b"  " * n + b"- x\n" for n in range(3000))), "nested deeper"),
    "ten thousand levels on one line": (_write(b"# PRD\n" + b"- " * 10_000 + b"x\n"), "nested deeper"),
    "a YAML bomb": (_write(_bomb()), "alias"),
    "deep JSON": (_write(b"[" * 100_000 + b"]" * 100_000), "nested"),
    "deep YAML": (_write(b"requirements: " + b"[" * 5000 + b"]" * 5000), "nested"),
    "JSON with duplicate keys": (_write(b'{"userStories": [{"id": "US-1", "id": "US-2", "title": "x"}]}'), "twice"),
    "JSON with NaN": (_write(b'{"userStories": [{"id": "US-1", "title": "x", "priority": NaN}]}'), "NaN"),
    "a number of 5,000 digits": (_write(b'{"userStories": [{"id": "US-1", "title": "x", "priority": ' + b"9" * 5000 + b"}]}"), ""),
    "broken JSON": (_write(b'{"userStories": [{"id": "US-1"'), "JSON"),
    "a folder": (Path.mkdir, "a folder"),
    "a missing file": (lambda _: None, "no such file"),
    "a FIFO": (os.mkfifo, "not a regular file"),
    "a symlink loop": (lambda path: path.symlink_to(path.name), "circle"),
    "an empty file": (_write(b""), "the document is empty"),
    "one endless line": (_write(b"# PRD " + b"word " * (MIB // 4)), "no stories, requirements or tasks found"),
    "a million stars": (_write(b"*" * MIB + b"\n"), "no stories, requirements or tasks found"),
    "a million open brackets": (_write(b"# PRD\n" + b"[(" * (MIB // 2)), "no stories, requirements or tasks found"),
    "very many unclosed comments": (_write(b"# PRD\n" + b"<!-- \n" * (MIB // 24)), "no stories, requirements or tasks found"),
    "a million pipes": (_write(b"# PRD\n|a|b|\n|-|-|\n" + b"|" * MIB), "no stories, requirements or tasks found"),
}  # fmt: skip


def test_hostile_documents_are_refused_in_words_write_nothing_and_take_neither_memory_nor_time(tmp_path: Path) -> None:
    documents = {}
    for number, (name, (make, _)) in enumerate(BAD.items()):
        (tmp_path / str(number)).mkdir()
        make(document := tmp_path / str(number) / "prd.md")
        documents[name] = document
    large = tmp_path / "large.md"
    large.write_bytes(b"# PRD\n- R1: " + b"`a " * (MIB // 6))
    given = "".join(f"{json.dumps([str(one), str(one.parent / 'out')])}\n" for one in (*documents.values(), large))
    ran = subprocess.run([sys.executable, "-c", READS], input=given, capture_output=True, text=True, check=False)
    *told, (code, printed, error) = map(json.loads, ran.stdout.splitlines())
    assert ran.returncode == 0, (list(documents)[len(told) + 1 :][:1], ran.stderr[-2000:])
    assert (code, len(printed) < 5000) == (0, True), f"a title of half a megabyte is still a plan: {error[:500]}"
    wrong = [
        (name, code, error[:500])
        for (name, document), (code, printed, error) in zip(documents.items(), told, strict=True)
        if code != 30 or printed or BAD[name][1] not in error or len(error) >= 5000
        or "Traceback" in error or "bug" in error or (document.parent / "out").exists()
    ]  # fmt: skip
    assert not wrong


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    document = tmp_path / "prd.md"
    document.write_text(GOOD)
    document.chmod(0)
    done = inside("plan", document, "--out-dir", tmp_path / "out", cwd=tmp_path)
    assert (done.returncode, "not permitted" in done.stderr) == (30, True)


def test_an_error_as_json_an_out_dir_that_is_a_file_and_escapes_of_a_document_are_dealt_with(tmp_path: Path) -> None:
    done = inside("plan", tmp_path / "none.md", "--json", cwd=tmp_path, code=30)
    error = json.loads(done.stdout)["error"]
    assert error["reason"] == "invalid_input"
    assert error["hint"]
    assert done.stderr == ""
    document = tmp_path / "prd.md"
    document.write_text(GOOD)
    (tmp_path / "out").write_text("")
    done = inside("plan", document, "--out-dir", tmp_path / "out", cwd=tmp_path, code=30)
    assert "it was not written" in done.stderr
    document = tmp_path / "prd.md"
    document.write_text(
        "# PRD\n### R1: clear \x1b[2J\x1b]52;c;aGk=\x07 screen\u202e\n### R2: Two\nDepends on: R9\x1b[31m\n"
    )
    done = inside("plan", document, "--out-dir", tmp_path / "plan", cwd=tmp_path, code=0)
    assert not set("\x1b\x07\u202e") & set(done.stdout + done.stderr)
