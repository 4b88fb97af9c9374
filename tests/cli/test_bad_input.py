"""Hostile and broken documents: one clear error with its exit code, nothing written, within 10 s and 1 GiB."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.santiago import GIB, santiago

MIB = 1024**2


def _write(content: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_bytes(content)

    return make


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _folder(path: Path) -> None:
    path.mkdir()


def _missing(path: Path) -> None:
    """Leave it out."""


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 * 1024**4)


def _unreadable(path: Path) -> None:
    path.write_text("# PRD\n### R1: One\n### R2: Two\n")
    path.chmod(0)


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
    "a folder": (_folder, "a folder"),
    "a missing file": (_missing, "no such file"),
    "a FIFO": (_fifo, "not a regular file"),
    "a symlink loop": (_loop, "circle"),
    "an empty file": (_write(b""), "no requirement"),
    "one endless line": (_write(b"# PRD " + b"word " * (3 * MIB)), "no requirement"),
    "a million stars": (_write(b"*" * MIB + b"\n"), "no requirement"),
    "a million open brackets": (_write(b"# PRD\n" + b"[(" * (MIB // 2)), "no requirement"),
    "a million unclosed comments": (_write(b"# PRD\n" + b"<!-- \n" * (MIB // 6)), "no requirement"),
    "a million pipes": (_write(b"# PRD\n|a|b|\n|-|-|\n" + b"|" * MIB), "no requirement"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_is_refused_in_words_and_writes_nothing(name: str, tmp_path: Path) -> None:
    make, says = BAD[name]
    document, out = tmp_path / "prd.md", tmp_path / "out"
    make(document)
    done = santiago("plan", document, "--out-dir", out, seconds=20, memory=GIB)
    assert done.returncode == 30, done
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr
    assert says in done.stderr, done.stderr[:500]
    assert len(done.stderr) < 5000
    assert done.stdout == ""
    assert not out.exists()


def test_a_title_of_a_megabyte_is_still_a_plan(tmp_path: Path) -> None:
    document = tmp_path / "prd.md"
    document.write_bytes(b"# PRD\n- R1: " + b"`a " * (MIB // 3))
    done = santiago("plan", document, "--out-dir", tmp_path / "out", seconds=20, memory=GIB)
    assert done.returncode == 0, done.stderr[:500]
    assert len(done.stdout) < 5000


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    document = tmp_path / "prd.md"
    _unreadable(document)
    done = santiago("plan", document, "--out-dir", tmp_path / "out")
    assert (done.returncode, "not permitted" in done.stderr) == (30, True)


def test_with_json_the_error_is_one_document_on_standard_output(tmp_path: Path) -> None:
    done = santiago("plan", tmp_path / "none.md", "--json")
    assert done.returncode == 30
    error = json.loads(done.stdout)["error"]
    assert error["reason"] == "invalid_input"
    assert error["hint"]
    assert done.stderr == ""


def test_terminal_escapes_of_a_document_never_reach_the_terminal(tmp_path: Path) -> None:
    document = tmp_path / "prd.md"
    document.write_text(
        "# PRD\n### R1: clear \x1b[2J\x1b]52;c;aGk=\x07 screen\u202e\n### R2: Two\nDepends on: R9\x1b[31m\n"
    )
    done = santiago("plan", document, "--out-dir", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert not set("\x1b\x07\u202e") & set(done.stdout + done.stderr)


def test_an_out_dir_that_is_a_file_is_refused(tmp_path: Path) -> None:
    document = tmp_path / "prd.md"
    document.write_text("# PRD\n### R1: One\n### R2: Two\n")
    (tmp_path / "out").write_text("")
    done = santiago("plan", document, "--out-dir", tmp_path / "out")
    assert done.returncode == 30
    assert "it was not written" in done.stderr
