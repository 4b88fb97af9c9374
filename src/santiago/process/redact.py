"""Keeping secrets out of files: every byte on its way to disk passes here, however it was cut into pieces."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote, quote_plus

MARK = b"[redacted]"
SHORTEST = 8
"""Secrets below this length are not registered: they would hide ordinary words."""

_NAMES = re.compile(r"TOKEN|SECRET|KEY|PASSWORD|PASSWD|CREDENTIAL|PASSPHRASE", re.IGNORECASE)
_SHAPES = re.compile(
    rb"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{16}"
    rb"|sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{30,}|glpat-[A-Za-z0-9_-]{18,}"
    rb"|(?<=[Bb]earer )[A-Za-z0-9._~+/-]{16,}=*|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{6,}"
    rb"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]{1,8000}-----END [A-Z ]*PRIVATE KEY-----"
)
"""What credentials look like, whether or not they were registered."""
LONGEST_SHAPE = 256
"""How far a shape may reach over a border between two pieces."""


def secrets_in(environment: dict[str, str]) -> tuple[str, ...]:
    """Return the values of variables whose names say that they are secret."""
    return tuple(
        sorted({value for name, value in environment.items() if _NAMES.search(name) and len(value) >= SHORTEST})
    )


def forms(secret: str) -> set[bytes]:
    """Return the ways in which a secret may be written: as it is, escaped, quoted, or in base 64, 32 and 16."""
    raw = secret.encode()
    found = {raw, raw[::-1]}
    found |= {json.dumps(secret)[1:-1].encode(), json.dumps(secret, ensure_ascii=False)[1:-1].encode()}
    found |= {quote(secret, safe="").encode(), quote(secret).encode(), quote_plus(secret).encode()}
    found |= {raw.hex().encode(), raw.hex().upper().encode(), raw.hex(":").encode(), raw.hex(" ").encode()}
    found |= {base64.b32encode(raw).rstrip(b"="), "".join(f"\\x{byte:02x}" for byte in raw).encode()}
    found |= {secret.replace("'", "'\\''").encode(), secret.encode("utf-16-le"), secret.encode("unicode_escape")}
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        # In longer text the secret may begin at any of three alignments; only the part that is its own is constant.
        for shift in range(3):
            text = encode(b"\0" * shift + raw).rstrip(b"=")
            start, end = -(-shift * 8 // 6), (shift + len(raw)) * 8 // 6
            found.add(text[start:end])
    return {form for form in found if len(form) >= SHORTEST}


class Redactor:
    """Replaces secrets in a stream of pieces; what might be the beginning of one waits for the next piece."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        known = sorted({form for secret in secrets for form in forms(secret)}, key=lambda form: (-len(form), form))
        self.pattern = re.compile(b"|".join(map(re.escape, known))) if known else None
        self.carry = max([len(form) for form in known] + [LONGEST_SHAPE])
        self.waiting = b""

    def feed(self, piece: bytes) -> bytes:
        """Return what is safe to write by now."""
        text = self.whole(self.waiting + piece)
        cut = max(len(text) - self.carry, 0)
        self.waiting = text[cut:]
        return text[:cut]

    def end(self) -> bytes:
        """Return the rest."""
        text, self.waiting = self.whole(self.waiting), b""
        return text

    def whole(self, text: bytes) -> bytes:
        """Return a complete text without secrets."""
        if self.pattern is not None:
            text = self.pattern.sub(MARK, text)
        return _SHAPES.sub(MARK, text)

    def text(self, text: str) -> str:
        return self.whole(text.encode("utf-8", "backslashreplace")).decode("utf-8", "backslashreplace")
