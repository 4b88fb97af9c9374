"""The encodings in which tests plant a secret: what programs really do to text, each written by other means than santiago's."""

import base64
import codecs
import html
import json
import quopri
import shlex
from collections.abc import Callable
from urllib.parse import quote, quote_plus


def _text(secret: bytes) -> str:
    return secret.decode("utf-8", "surrogatepass")


def _each(template: str) -> Callable[[bytes], bytes]:
    return lambda secret: "".join(template.format(byte) for byte in secret).encode()


WRITTEN: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda s: s,
    "reversed": lambda s: s[::-1],
    "base64": base64.b64encode,
    "base64 after one byte, for urls": lambda s: base64.urlsafe_b64encode(b"u" + s + b"@host"),
    "base64 after two bytes": lambda s: base64.b64encode(b"u:" + s + b"@host"),
    "base64 of base64": lambda s: base64.b64encode(b"key=" + base64.b64encode(s)),
    "base32": lambda s: base64.b32encode(s).rstrip(b"="),
    "hex": lambda s: s.hex().encode(),
    "HEX with colons": lambda s: s.hex(":").upper().encode(),
    "hex with spaces": lambda s: s.hex(" ").encode(),
    "escaped bytes": _each("\\x{:02x}"),
    "octal": _each("\\{:03o}"),
    "bytes of C": _each("0x{:02X}, "),
    "escaped characters": lambda s: "".join(f"\\u{ord(mark):04x}" for mark in _text(s)).encode(),
    "url": lambda s: quote(s, safe="").encode(),
    "url in small letters": lambda s: quote(s, safe="").lower().encode(),
    "every byte for urls": _each("%{:02x}"),
    "form": lambda s: quote_plus(s).encode(),
    "JSON": lambda s: json.dumps(_text(s))[1:-1].encode(),
    "JSON twice": lambda s: json.dumps(json.dumps(_text(s)))[3:-3].encode(),
    "HTML": lambda s: html.escape(_text(s)).encode("utf-8", "surrogatepass"),
    "HTML by numbers": lambda s: "".join(f"&#{ord(mark)};" for mark in _text(s)).encode(),
    "HTML by hexadecimal numbers": lambda s: "".join(f"&#x{ord(mark):X};" for mark in _text(s)).encode(),
    "quoted-printable": lambda s: quopri.encodestring(s),
    "rot13": lambda s: codecs.encode(_text(s), "rot13").encode("utf-8", "surrogatepass"),
    "UTF-16": lambda s: _text(s).encode("utf-16-le", "surrogatepass"),
    "UTF-16, the other way": lambda s: _text(s).encode("utf-16-be", "surrogatepass"),
    "shell": lambda s: shlex.quote(_text(s)).encode("utf-8", "surrogatepass"),
}
"""Compressed or encrypted text is no encoding that could be looked for, and is not among them."""
