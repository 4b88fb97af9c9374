"""Logs of CI services: foldable groups, notes at a line of the document, a summary page. Other output cannot inject commands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Service = Literal["", "github", "buildkite"]
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable that names the file of the page that GitHub shows beside a job."""


def service() -> Service:
    """Return the service whose log this is written to."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        return "github"
    return "buildkite" if os.environ.get("BUILDKITE") == "true" else ""


def is_ci() -> bool:
    return bool(service()) or os.environ.get("CI", "").lower() not in {"", "0", "false", "no"}


def opening(title: str) -> list[str]:
    """Return the line that begins a group, unfolded."""
    match service():
        case "github":
            return [f"::group::{_message(title)}"]
        case "buildkite":
            return [f"+++ {title}"]
        case _:
            return []


def closing() -> list[str]:
    return ["::endgroup::"] if service() == "github" else []


def annotation(path: str, line: int, title: str, message: str) -> list[str]:
    """Return the line that puts an error at a line of the document."""
    if service() != "github":
        return []
    place = f"file={_property(path)},line={max(line, 1)},title={_property(title)}"
    return [f"::error {place}::{_message(message)}"]


def quiet(text: str) -> str:
    """Return a text without commands for the CI service. All output of agents and checks goes through here."""
    match service():
        case "github":
            plain = text.replace("##[", "## [")
            return plain.replace("::", ": :", 1) if plain.lstrip().startswith("::") else plain
        case "buildkite":
            return f" {text}" if text.startswith(("---", "+++", "~~~", "^^^")) else text
        case _:
            return text


def append_page(page: Callable[[], list[str]]) -> str:
    """Append a page to the file that the service shows beside its job; return an error message, or an empty text."""
    path = os.environ.get(STEP_SUMMARY)
    if not path:
        return ""
    try:
        # Not blocking: the run must not wait for a reader.
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
        with os.fdopen(handle, "wb") as file:
            file.write("\n".join(["", *page(), ""]).encode(errors="replace"))
    except OSError as error:
        return f"the step summary cannot be written: {error.strerror}"
    return ""


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
