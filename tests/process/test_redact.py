"""A registered secret never reaches a file, in any of its forms, however the output was cut (P19, b.105)."""

import base64
import json
import random
import tempfile
import textwrap
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from santiago.process.redact import MARK, Redactor, fold, forms, secrets_in, to_hide
from santiago.process.supervisor import Capture
from tests.process.writing import WRITTEN
from tests.util.each import each

SECRET = "p@ss w0rd/\"ünïque'+x=="
OTHER = "tok-1234567890abcdef"
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{textwrap.fill('Zm9v' * 700, 64)}\n-----END RSA PRIVATE KEY-----"
SHAPES = {
    "a long token": "sk-ant-" + "x9" * 600, "a web token": "eyJ" + "hbGci" * 200 + "." + "c3Vi" * 200 + "." + "sig-_9" * 20,
    "a private key": KEY, "a private key in JSON": json.dumps(KEY)[1:-1],
    "a private key with a header": KEY.replace("-----\nZm", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nZm", 1),
    "half a private key": KEY[:910], "a bearer": "Bearer " + "abc/def+12" * 40 + "==",
}  # fmt: skip


def leaks(data: bytes) -> list[bytes]:
    return [form for secret in (SECRET, OTHER) for form in forms(secret) if form in data]


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({0, len(stream), *(place for place in places if place < len(stream))})
    return [stream[start:end] for start, end in pairwise(ends)]


def randomly(stream: bytes, seed: int, longest: int) -> list[bytes]:
    chance = random.Random(seed)
    pieces = []
    while stream:
        size = chance.randint(1, longest)
        pieces.append(stream[:size])
        stream = stream[size:]
    return pieces


@each("name", sorted(WRITTEN))
@each("secret", [SECRET, OTHER, "q1w2e3r4", "x" * 30, "!!§§$$%%&&//(())", "line one\nline two\n"])
def test_every_written_form_is_known(secret: str, name: str) -> None:
    written = WRITTEN[name](secret.encode())
    text = b"<" + written + b">"
    safe = Redactor((secret,)).whole(text)
    assert MARK in safe
    assert written.strip() not in safe
    middle = fold(written)[8:-12]
    assert len(middle) < 8 or middle not in fold(safe)


pieces = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.sampled_from([write(secret.encode()) for write in WRITTEN.values() for secret in (SECRET, OTHER)]),
    ),
    max_size=12,
)


@settings(max_examples=120)
@given(
    pieces=pieces,
    cuts=st.lists(st.integers(0, 900), max_size=25),
    keep=st.sampled_from([40, 300, 5000]),
    log_keep=st.sampled_from([None, 0, 100, 700]),
)
def test_no_secret_leaves_with_cut_output(
    pieces: list[bytes], cuts: list[int], keep: int, log_keep: int | None
) -> None:
    stream = b"|".join(pieces)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        capture = Capture(keep, Redactor((SECRET, OTHER)), str(log), log_keep)
        for piece in cut(stream, cuts):
            capture.feed(piece)
        kept = capture.end()
        assert leaks(kept.head.encode()) == []
        assert leaks(kept.tail.encode()) == []
        assert leaks(log.read_bytes()) == []
        assert kept.dropped == max(0, len(stream) - 2 * keep)
        assert kept.log_dropped == max(0, len(stream) - keep - (keep if log_keep is None else log_keep))
        assert (b" bytes dropped " in log.read_bytes()) == (kept.log_dropped > 0)


@settings(max_examples=120)
@given(
    secret=st.text(min_size=8, max_size=40),
    before=st.text(max_size=30),
    after=st.text(max_size=30),
    write=st.sampled_from(sorted(WRITTEN)),
    cuts=st.lists(st.integers(0, 300), max_size=20),
)
def test_pieces_lose_the_same_as_the_whole(secret: str, before: str, after: str, write: str, cuts: list[int]) -> None:
    written = WRITTEN[write](secret.encode("utf-8", "surrogatepass"))
    text = before.encode() + written + after.encode() + written
    redactor = Redactor((secret,))
    whole = redactor.whole(text)
    assert not any(form in whole for form in forms(secret) if form not in MARK)
    stream = redactor.fresh()
    assert b"".join(stream.feed(piece, live=False) for piece in cut(text, cuts)) + stream.end() == whole
    live = redactor.fresh()
    out = b"".join(live.feed(piece) for piece in cut(text, cuts)) + live.end()
    assert not any(form in out for form in forms(secret) if form not in MARK)


@each("name", sorted(SHAPES))
@each("seed", range(3))
def test_a_long_credential_that_nobody_registered_is_hidden_also_in_pieces(name: str, seed: int) -> None:
    text = f"before {SHAPES[name]} after\n{SHAPES[name]}\nlast words\n".encode()
    stream = Redactor(())
    out = b"".join(stream.feed(piece) for piece in randomly(text, seed, 10 ** (1 + seed % 3))) + stream.end()
    assert out == Redactor(()).whole(text)
    assert out.endswith(b"\nlast words\n")
    assert SHAPES[name][-60:-20].encode() not in out
    assert SHAPES[name][40:60].encode() not in out
    assert len(out) < 150


def test_secrets_one_behind_the_other_without_an_end_wait_in_bounded_memory_and_show_nothing() -> None:
    letters = "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=200))
    one, other = letters[:110], letters[100:] + letters[:10]
    stream = Redactor((one, other))
    out = bytearray()
    for piece in randomly(letters.encode() * 200 + letters[:10].encode(), 1, 2000):
        out += stream.feed(piece)
        assert len(stream.held) <= 2 * stream.reach + 2000
    assert (out + stream.end()).replace(MARK, b"") == b""


@each("at", range(0, 40, 3))
def test_where_output_is_cut_no_part_of_a_secret_is_left(at: int, tmp_path: Path) -> None:
    capture = Capture(1000, Redactor((OTHER,)), str(tmp_path / "log"), 2000)
    filler = b" -" * 10_000
    first = filler[: 980 + at] + OTHER.encode()
    last = OTHER.encode() + filler[: 980 + at]
    stream = first + first + filler + last
    for piece in randomly(stream, at, 300):
        capture.feed(piece)
    kept = capture.end()
    shown = kept.head.encode() + kept.tail.encode() + (tmp_path / "log").read_bytes()
    assert not any(OTHER[place : place + 4].encode() in shown for place in range(len(OTHER) - 3))
    assert kept.log_dropped == len(stream) - 3000


def test_a_line_is_seen_at_once_unless_it_ends_in_the_middle_of_a_secret() -> None:
    for line in (b"ready\n", b"50% of it tok\n", b'{"type":"text","text":"tok"}\n', b"\x1b[1m100%\x1b[0m tok!\n"):
        assert Redactor((SECRET, OTHER)).feed(line) == line
    stream = Redactor((OTHER,))
    assert stream.feed(b"x\ntok-123456\n") == b"x\n"
    assert stream.feed(b"7890abcdef\ny\n") == MARK + b"\ny\n"


def test_wrapped_and_marked_lines_hide_nothing() -> None:
    secret = base64.b64encode(bytes(range(40, 110))).decode()
    lines = base64.b64encode(b"user:" + secret.encode() + b"@host" * 9).decode()
    wrapped = "\n".join(textwrap.wrap(lines, 20))
    for text in (wrapped, json.dumps(wrapped), textwrap.indent(wrapped, "+"), textwrap.indent(secret, "> ")):
        safe = Redactor((secret,)).whole(text.encode())
        assert MARK in safe
        assert not any(fold(form) in fold(safe) for form in forms(secret))


@given(text=st.text(alphabet="abc \n", max_size=400), size=st.integers(1, 50))
def test_text_without_secrets_is_not_changed(text: str, size: int) -> None:
    redactor = Redactor((SECRET,))
    data = text.encode()
    out = b"".join(redactor.feed(data[at : at + size]) for at in range(0, len(data), size)) + redactor.end()
    assert out == data


def test_what_looks_like_a_credential_is_hidden_without_being_registered_and_words_about_keys_are_no_keys() -> None:
    github = ("ghp_" + "a1" * 18, "github_pat_" + "A_1" * 12)
    others = ("xoxb-123456789012-abc", "AKIA" + "ABCD" * 4, "sk-ant-" + "x9" * 20, "glpat-" + "q" * 20)
    for shape in (*github, *others):
        assert Redactor(()).whole(f"key={shape};".encode()) == b"key=" + MARK + b";"
    text = b'if "-----BEGIN PRIVATE KEY-----" in text: refuse("a task-list of the disk-image")\nBearer of news\n'
    assert Redactor(()).whole(text) == text


def test_secrets_are_found_by_name_or_inside_addresses_and_short_ones_are_left() -> None:
    named = {"API_TOKEN": "longenough", "PASSWORD": "short", "PATH": "/usr/bin:/bin", "MY_KEY": "0123456789"}
    assert secrets_in({**named, "KEY_LINE": "-" * 20}) == ("0123456789", "longenough")
    addresses = {"DATABASE_URL": "postgres://me:very-long-word@host/db", "HTTP_PROXY": "http://proxy:8080"}
    assert to_hide({**addresses, "A_KEY": "0123456789"}) == ("0123456789", "very-long-word")


def test_a_secret_that_is_no_text_or_very_long_is_hidden_too() -> None:
    long = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=20_000))
    redactor = Redactor(("caf\udce9-of-bytes", long))
    safe = redactor.whole(b"<caf\xe9-of-bytes> <" + base64.b64encode(long.encode()) + b"> <" + long.encode() + b">")
    assert b"of-bytes" not in safe
    assert len(safe) < 3000
