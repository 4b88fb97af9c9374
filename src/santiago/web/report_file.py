"""The report of a run as one file of HTML that loads nothing, runs nothing, and sends nothing."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from santiago import __version__
from santiago.web.rendering import render, style

if TYPE_CHECKING:
    from collections.abc import Mapping


def html(document: Mapping[str, Any]) -> bytes:
    """Return a report as a file."""
    sheet = style()
    digest = b64encode(sha256(sheet.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    own = {"policy": policy, "style": Markup(sheet), "version": __version__}  # noqa: S704  # our own file
    # An end of a line between two tags would be an element's worth of work for a browser; in texts `<` is escaped.
    return re.sub(r">\n+<", "><", render("report.html", {**document, **own})).encode("utf-8", "replace")
