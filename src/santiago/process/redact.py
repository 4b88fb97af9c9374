"""Keeps secrets out of files. Every byte on its way to disk passes here, in pieces of any size."""

from __future__ import annotations

import base64
import codecs
import json
import re
from copy import copy
from itertools import compress
from typing import TYPE_CHECKING

from santiago.contract.lazy_regex import pattern
from santiago.util import regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


MOST_BYTES = 256 * 1024
MOST_VALUES = 50
_VALUE = pattern(
    r"""(?<![\w-])["']?(?:[\w-]{0,60}(?:token|secret|key|passw(?:or)?d|credential)[\w-]{0,60}|access|refresh)["']?"""
    r"""[ \t]*[:=]\s*["']?([^\s"',{}\[\]]{16,8192})""",
    re.IGNORECASE,
)
"""Matches `"access_token": "…"` and similar in JSON, TOML, YAML and lists of variables. Shorter values are ordinary words."""


_LINE = pattern(r"""^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w{0,100})=(["']?)(.{0,8192}?)\2[ \t]*\r?$""", re.MULTILINE)


def variables_of(path: Path) -> dict[str, str]:
    """Return the variables that a file like `.env` sets."""
    content = regular.content(path, MOST_BYTES) or b""
    return {found[1]: found[3] for found in _LINE.finditer(content.decode("utf-8", "replace"))}


def secrets_of(path: Path) -> list[str]:
    """Return the values under names that mark them as secret; none if the file cannot be read."""
    content = regular.content(path, MOST_BYTES) or b""
    values = (found[1] for found in _VALUE.finditer(content.decode("utf-8", "replace")))
    return sorted(dict.fromkeys(value for value in values if len(set(value)) > 2))[:MOST_VALUES]


SHORTEST = 8
"""Shorter secrets and encodings are not looked for, since they would match ordinary words."""
_LONGEST = 4096
"""Longer secrets are looked for in pieces, so that their encodings stay small."""
_PIECE = 1024
_LEFT_OUT = bytes(byte for byte in range(128) if not chr(byte).isalnum())
KEPT = frozenset(range(256)) - frozenset(_LEFT_OUT)


def fold(text: bytes) -> bytes:
    """Return a text in lower case with only letters and digits. Each byte is treated by itself."""
    return text.lower().translate(None, _LEFT_OUT)


def forms(secret: str) -> set[bytes]:
    """Return the encodings of a secret. Those that differ only in what `fold` removes are not repeated."""
    raw = secret.encode("utf-8", "surrogateescape")
    found = {raw, raw[::-1], codecs.encode(secret, "rot13").encode("utf-8", "surrogateescape")}
    found |= _in_text(secret, raw) | _by_bytes(raw)
    found |= {secret.encode("utf-16-le", "surrogatepass"), secret.encode("utf-16-be", "surrogatepass")}
    once = _base64(raw)
    found |= once | {form for text in once for form in _base64(text)}
    return {form for form in found if len(form) >= SHORTEST}


def known(secrets: tuple[str, ...]) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Return what to look for in the text itself, and what to look for in the folded text."""
    exact, folded = set(), set()
    for piece in (piece for secret in secrets for piece in _pieces(secret)):
        exact.add(piece.encode("utf-8", "surrogateescape"))
        for form in forms(piece):
            short = fold(form)
            if len(short) < SHORTEST:
                exact.add(form)
            else:
                folded.add(short)
    return tuple(sorted(exact)), tuple(sorted(folded))


def _pieces(secret: str) -> list[str]:
    if len(secret) <= _LONGEST:
        return [secret] if len(secret) >= SHORTEST else []
    return [secret[at : at + _PIECE] for at in range(0, len(secret) - SHORTEST + 1, _PIECE)]


def _in_text(secret: str, raw: bytes) -> set[bytes]:
    """Return encodings that escape only unusual characters, as in JSON, URLs, HTML and mails."""
    from urllib.parse import quote_from_bytes  # loaded only if there is a secret, since it is slow to load

    page = secret.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    quoted = page.replace('"', "&quot;")
    texts = {json.dumps(secret, ensure_ascii=True), json.dumps(secret, ensure_ascii=False), page, quoted}
    texts |= {quoted.replace("'", "&#39;"), quoted.replace("'", "&#x27;"), quoted.replace("'", "&apos;")}
    texts |= {quote_from_bytes(raw, safe=""), quote_from_bytes(raw), quote_from_bytes(raw, safe=" ")}
    texts |= {quote_from_bytes(raw, safe="/:@!$&'()*+,;=")}
    texts |= {json.dumps(secret).translate({ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&'"})}
    mail = b"".join(b"=%02X" % byte if byte > 126 or byte == ord("=") else bytes((byte,)) for byte in raw)
    return {text.encode("utf-8", "surrogateescape") for text in texts} | {secret.encode("unicode_escape"), mail}


def _by_bytes(raw: bytes) -> set[bytes]:
    """Return encodings that write every byte or character as a number. What is between the numbers does not matter."""
    text = raw.decode("utf-8", "surrogateescape")
    found = {raw.hex(), "".join(f"\\x{byte:02x}" for byte in raw), "".join(f"0x{byte:02x}," for byte in raw)}
    found |= {"".join(f"\\{byte:03o}" for byte in raw), "".join(f"\\u{ord(mark):04x}" for mark in text)}
    found |= {"".join(f"&#{ord(mark)};" for mark in text), "".join(f"&#x{ord(mark):x};" for mark in text)}
    return {form.encode() for form in found} | {base64.b32encode(raw).rstrip(b"=")}


def _base64(raw: bytes) -> set[bytes]:
    """Return base 64 for the three offsets at which the secret may begin, without characters that depend on its neighbours."""
    found = set()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for shift in range(3):
            text = encode(b"\0" * shift + raw)
            found.add(text[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6])
    return found


MARK = b"[redacted]"
_NAMES = pattern(r"TOKEN|SECRET|KEY|PASSWORD|PASSWD|CREDENTIAL|PASSPHRASE", re.IGNORECASE)
LONGEST_SHAPE = 16 * 1024
"""How many bytes of something that looks like a credential are held back at most."""
_TOKEN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/=\\"
# No possessive group anywhere: Python before 3.11.5 does not match one that has to try more than one way.
_KEY_BEGINS = rb"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
_SHAPES = pattern(
    rb"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{16}"
    rb"|sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{30,}|glpat-[A-Za-z0-9_-]{18,}"
    rb"|[Bb]earer ([A-Za-z0-9._~+/-]{16,}=*)|eyJ[A-Za-z0-9_-]{10,2000}+\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{6,}"
    rb"|" + _KEY_BEGINS + rb"(?:(?:[^-]|-(?!----)){1,16000}-----END [A-Z ]{0,40}PRIVATE KEY-----"
    rb"|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{40,})+(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{8,})?)"
)
"""Shapes of credentials, whether they are known or not. The beginning of a private key is enough."""
_KEY_BEGUN = pattern(
    rb"-----BEGIN [A-Z ]{0,60}-{0,4}\Z|" + _KEY_BEGINS + rb"(?:[^-]|-(?!----)){0,16000}(?:-----[A-Z ]{0,60}-{0,5})?\Z"
)
_MARKS = tuple(b"ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ xox AKIA sk- AIza glpat- earer eyJ -----BEGIN".split())
"""Every shape contains one of these. Most texts contain none, and testing that is much faster than the shapes."""
_IS_KEPT = bytes(byte in KEPT for byte in range(256))
_BLOCK = 64 * 1024
_CONTEXT = 64
"""Bytes that were already passed on, and are still looked at together with what follows."""


def is_secret(name: str) -> bool:
    """Tell whether a variable's name says that its value is secret."""
    return bool(_NAMES.search(name))


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of variables whose names say that they are secret, without those that are too short or too uniform to be one."""
    named = {value for name, value in environment.items() if is_secret(name)}
    return tuple(sorted(value for value in named if len(value) >= SHORTEST and len(set(value)) > 2))


_IN_URL = pattern(r"://[^/@\s:]*:([^/@\s]+)@")


def to_hide(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return all values that must not reach a file: secrets by their names, and the passwords inside addresses."""
    passwords = {found for value in environment.values() for found in _IN_URL.findall(value) if len(found) >= SHORTEST}
    return tuple(sorted({*secrets_in(environment), *passwords}))


class _Forms:
    """Byte strings to look for, whole or begun. No pattern is compiled, since every program has its own redactor."""

    def __init__(self, forms: tuple[bytes, ...]) -> None:
        self.all = forms
        self.longest = max(map(len, forms), default=0)
        self.starts: dict[bytes, list[bytes]] = {}
        for form in forms:
            for size in (1, 2, 3, 4):
                self.starts.setdefault(form[:size], []).append(form)

    def found(self, text: bytes) -> list[tuple[int, int]]:
        """Return all places, overlapping ones included."""
        places = []
        for form in self.all:
            at = text.find(form)
            while at >= 0:
                places.append((at, at + len(form)))
                at = text.find(form, at + 1)
        return places

    def begun(self, text: bytes) -> int:
        """Return how many bytes at the end of a text are the beginning of a form."""
        for at in range(max(len(text) - self.longest + 1, 0), len(text)):
            forms = self.starts.get(text[at : at + 4])
            if forms and any(form.startswith(text[at:]) for form in forms):
                return len(text) - at
        return 0


class Redactor:
    """Replaces secrets in a stream of pieces. The possible beginning of a secret waits for the next piece."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        self.exact, self.folded = (_Forms(forms) for forms in known(secrets))
        self.stretch = _widest(max(self.exact.longest, self.folded.longest))
        self.reach = max(self.stretch, LONGEST_SHAPE)
        """The most bytes that one secret takes, and so the most that are ever held back."""
        self.held = b""
        self.done = 0
        """How many of the held bytes were already passed on, and are kept only to recognise what follows."""

    def fresh(self) -> Redactor:
        """Return a redactor for another stream, with the same secrets."""
        other = copy(self)
        other.held, other.done = b"", 0
        return other

    def feed(self, piece: bytes, *, live: bool = True) -> bytes:
        """Return what is safe to write now. `live` means that somebody may be reading along."""
        places = range(0, len(piece), _BLOCK)
        return b"".join([self._step(piece[at : at + _BLOCK], live=live and at == places[-1]) for at in places])

    def end(self) -> bytes:
        """Return the rest."""
        rest = _replaced(self.held, self._found(self.held), self.done, len(self.held))
        self.held, self.done = b"", 0
        return rest

    def whole(self, text: bytes) -> bytes:
        """Return a complete text without secrets."""
        if len(text) <= _BLOCK:  # the text is complete, so nothing is held back
            return _replaced(text, self._found(text), 0, len(text))
        stream = self.fresh()
        return stream.feed(text, live=False) + stream.end()

    def text(self, text: str) -> str:
        return self.whole(text.encode("utf-8", "backslashreplace")).decode("utf-8", "backslashreplace")

    def first(self, text: bytes) -> int | None:
        """Return the position of the first known secret in a complete text; None if there is none."""
        for at in range(0, len(text), _BLOCK):
            start = max(at - self.stretch, 0)
            places = self._registered(text[start : at + _BLOCK])
            if places:
                return start + min(places)[0]
        return None

    def _step(self, piece: bytes, *, live: bool) -> bytes:
        text = self.held + piece
        found = self._found(text)
        stop, again = self._stop(text, found, live=live), _CONTEXT
        if len(text) - stop > self.reach:  # an endless row of secrets: pass on, and look at it again
            stop, again = _after(found, len(text) - self.reach), self.reach
        stop = max(stop, self.done)
        out = _replaced(text, found, self.done, stop)
        start = max(stop - again, 0)
        self.held, self.done = text[start:], stop - start
        return out

    def _found(self, text: bytes) -> list[tuple[int, int]]:
        """Return the places of secrets, in order. Overlapping ones are merged."""
        places = self._registered(text)
        if any(map(text.__contains__, _MARKS)):
            places += [match.span(match.lastindex or 0) for match in _SHAPES.finditer(text)]
        return _merged(places)

    def _registered(self, text: bytes) -> list[tuple[int, int]]:
        places = self.exact.found(text)
        for view in _views(text) if self.folded.all else ():
            hits = self.folded.found(fold(view))
            if hits:
                at = list(compress(range(len(view)), view.translate(_IS_KEPT)))
                wide = [(at[start], at[end - 1] + 1, end - start) for start, end in hits]
                places += [(_escaped(text, start), end) for start, end, most in wide if end - start <= _widest(most)]
        return places

    def _stop(self, text: bytes, found: list[tuple[int, int]], *, live: bool) -> int:
        """Return the position up to which every secret that begins is seen as a whole."""
        run = len(text.rstrip(_TOKEN))
        stop = run if len(text) - run <= LONGEST_SHAPE else len(text)
        begun = _KEY_BEGUN.search(text) if b"-----BEGIN " in text else None
        stop = min(stop, begun.start() if begun else stop, self._begun(text, live=live))
        # A secret that was found is not cut either, since it may go on.
        stop = min([stop] + [start for start, end in found if start < stop <= end])
        return _escaped(text, stop)

    def _begun(self, text: bytes, *, live: bool) -> int:
        """Return the position of the longest beginning of a secret at the end of a text."""
        waiting = self.exact.begun(text)
        for view in _views(text[-self.stretch :]) if self.folded.all else ():
            letters = self.folded.begun(fold(view))
            # A complete line is not held back because of its last three letters, since somebody may wait for it.
            if letters > (3 if live and text.endswith(b"\n") else 0):
                waiting = max(waiting, _width(view, letters))
        return len(text) - waiting


def _widest(length: int) -> int:
    """Return how many bytes an encoding may take in a text, with all that `fold` removes."""
    return 4 * length + 64


def _views(text: bytes) -> Iterator[bytes]:
    """Yield a text, and if it has escaped line ends, also the text with blanks instead of them."""
    yield text
    if b"\\n" in text:
        yield text.replace(b"\\r\\n", b"    ").replace(b"\\n", b"  ")


def _escaped(text: bytes, place: int) -> int:
    """Return where an escape begins, so that no single backslash is left, which would break a JSON text."""
    while text[max(place - 1, 0) : place] == b"\\":
        place -= 1
    return place


def _width(text: bytes, letters: int) -> int:
    """Return how many bytes of a text its last letters take."""
    for place in range(len(text) - 1, -1, -1):
        letters -= text[place] in KEPT
        if not letters:
            return len(text) - place
    return len(text)


def _merged(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _after(found: list[tuple[int, int]], place: int) -> int:
    """Return the position, or the end of the secret that was found there."""
    return next((end for start, end in found if start < place < end), place)


def _replaced(text: bytes, found: list[tuple[int, int]], start: int, stop: int) -> bytes:
    """Return a part of a text with the mark in place of secrets."""
    parts = []
    for begin, end in found:
        if end > start and max(begin, start) < stop:
            parts += [text[start:begin], MARK]  # nothing before the mark if the beginning was already passed on
            start = end
    return b"".join([*parts, text[start:stop]])
