"""One message to a web address: a JSON document by POST, with limits on time and tries."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.request import OpenerDirector

TRIES = 3
"""How often it is sent at most, if the server cannot be reached or reports an error of its own."""
PAUSE = 1.0
"""Seconds before it is sent again."""


def is_address(url: object) -> bool:
    """Tell whether something is the address of a web server, without blanks and without a password."""
    from urllib.parse import urlsplit

    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc and parts.port != 0
        )
    except ValueError:  # a port that is no number, or a bracket that is not closed
        return False


def post(url: str, message: Mapping[str, Any], seconds: float) -> str:
    """Send a message; return why it failed, or an empty text. All tries share the seconds.

    Only the head of the answer is read. No redirection is followed, since the message is meant for this address only.
    """
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request

    content = json.dumps(message).encode()
    request = Request(url, content, {"Content-Type": "application/json", "User-Agent": "santiago"}, method="POST")  # noqa: S310  # http or https
    opener, until, why = _opener(), time.monotonic() + seconds, ""
    for number in range(TRIES):
        if number:
            time.sleep(PAUSE)
        if (left := until - time.monotonic()) <= 0:
            break
        try:
            opener.open(request, timeout=left).close()
        except HTTPError as error:
            error.close()
            why = f"answered {error.code}"
            if error.code < 500:
                break
        except TimeoutError:
            return f"took longer than {seconds:g} s"
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                return f"took longer than {seconds:g} s"
            why = f"could not be reached: {getattr(reason, 'strerror', None) or type(reason).__name__}"
        else:
            return ""
    return why


def _opener() -> OpenerDirector:
    from urllib.request import HTTPRedirectHandler, build_opener

    class Nowhere(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    return build_opener(Nowhere)
