"""The encodings in which a secret may be written: as it is, reversed, escaped, quoted, or in another alphabet.

Texts are compared without letter case, spaces, line ends and punctuation, so that a wrapped line, a `+` of a patch or
colons between digits hide nothing.
"""

from __future__ import annotations

import base64
import codecs
import json

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
