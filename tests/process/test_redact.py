"""A registered secret never reaches a file, in any of its forms, however the output was cut (P19, b.105)."""

from __future__ import annotations

import base64
import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from santiago.process.capture import Capture
from santiago.process.redact import MARK, Redactor, forms, secrets_in

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "p@ss w0rd/\"ünïque'+x=="
OTHER = "tok-1234567890abcdef"
WRITTEN: dict[str, Callable[[str], bytes]] = {
    "plain": lambda s: s.encode(), "reversed": lambda s: s.encode()[::-1], "json": lambda s: json.dumps(s)[1:-1].encode(),
    "json, other letters kept": lambda s: json.dumps(s, ensure_ascii=False)[1:-1].encode(), "url": lambda s: quote(s, safe="").encode(),
    "url path": lambda s: quote(s).encode(), "form": lambda s: quote_plus(s).encode(), "hex": lambda s: s.encode().hex().encode(),
    "HEX": lambda s: s.encode().hex().upper().encode(), "hex with colons": lambda s: s.encode().hex(":").encode(),
    "hex with spaces": lambda s: s.encode().hex(" ").encode(), "escaped bytes": lambda s: "".join(f"\\x{b:02x}" for b in s.encode()).encode(),
    "base32": lambda s: base64.b32encode(s.encode()), "base64": lambda s: base64.b64encode(s.encode()),
    "base64 inside text": lambda s: base64.b64encode(b"user:" + s.encode() + b"!"), "base64 shifted": lambda s: base64.b64encode(b"u:" + s.encode()),
    "base64 for urls": lambda s: base64.urlsafe_b64encode(s.encode()), "shell quoted": lambda s: s.replace("'", "'\\''").encode(),
    "UTF-16": lambda s: s.encode("utf-16-le"), "unicode escapes": lambda s: s.encode("unicode_escape"),
}  # fmt: skip


def leaks(data: bytes) -> list[bytes]:
    return [form for secret in (SECRET, OTHER) for form in forms(secret) if form in data]


def test_every_written_form_is_known() -> None:
    redactor = Redactor((SECRET, OTHER))
    assert len(WRITTEN) >= 17
    for name, write in WRITTEN.items():
        for secret in (SECRET, OTHER):
            assert leaks(redactor.whole(b"<" + write(secret) + b">")) == [], name


pieces = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.sampled_from([write(secret) for write in WRITTEN.values() for secret in (SECRET, OTHER)]),
    ),
    max_size=12,
)


@settings(max_examples=300)
@given(pieces=pieces, cuts=st.lists(st.integers(0, 900), max_size=25), keep=st.sampled_from([40, 300, 5000]))
def test_no_secret_reaches_head_tail_or_log_however_the_output_is_cut(
    pieces: list[bytes], cuts: list[int], keep: int
) -> None:
    stream = b"|".join(pieces)
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        capture = Capture(keep, Redactor((SECRET, OTHER)), str(log))
        for start, end in pairwise(places):
            capture.feed(stream[start:end])
        head, tail, dropped = capture.end()
        assert leaks(head.encode()) == []
        assert leaks(tail.encode()) == []
        assert leaks(log.read_bytes()) == []
        assert 0 <= dropped <= len(stream)


@given(text=st.text(alphabet="abc \n", max_size=400), size=st.integers(1, 50))
def test_text_without_secrets_is_not_changed(text: str, size: int) -> None:
    redactor = Redactor((SECRET,))
    data = text.encode()
    out = b"".join(redactor.feed(data[at : at + size]) for at in range(0, len(data), size)) + redactor.end()
    assert out == data


@pytest.mark.parametrize(
    "shape",
    ["ghp_" + "a1" * 18, "github_pat_" + "A_1" * 12, "xoxb-123456789012-abc", "AKIA" + "ABCD" * 4, "sk-ant-" + "x9" * 20, "glpat-" + "q" * 20],
)  # fmt: skip
def test_what_looks_like_a_credential_is_hidden_without_being_registered(shape: str) -> None:
    assert Redactor(()).whole(f"key={shape};".encode()) == b"key=" + MARK + b";"


def test_secrets_are_found_by_name_and_short_ones_are_left() -> None:
    found = secrets_in(
        {"API_TOKEN": "longenough", "PASSWORD": "short", "PATH": "/usr/bin:/bin", "MY_KEY": "0123456789"}
    )
    assert found == ("0123456789", "longenough")
