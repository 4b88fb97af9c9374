"""Prints errors and findings: what is wrong, where, the line itself, and what to do."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import traceback
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from santiago import __version__
from santiago.cli.view.terminal import paint, say
from santiago.contract.errors import SantiagoError
from santiago.contract.reasons import ExitCode
from santiago.util.disk import SICK, failed
from santiago.util.text import count, harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from santiago.board.governance.documents import Fault
    from santiago.contract.plan import Finding
    from santiago.report.page import Tone

_TONES: dict[str, Tone] = {"error": "bad", "warning": "warn", "note": "busy"}


def report(error: Exception, arguments: Sequence[str]) -> int:
    """Print an error and return its exit code. There is a traceback only with --debug."""
    as_json = "--json" in arguments
    if "--debug" in arguments:
        traceback.print_exception(error)
    match error:
        case SantiagoError():
            return _known(error, as_json=as_json)
        case click.exceptions.Exit():
            return error.exit_code
        case click.Abort() | KeyboardInterrupt():
            _say("stopped", "", "", as_json=as_json)
            return ExitCode.INTERRUPTED
        case click.ClickException():
            return _usage(error, as_json=as_json)
        case BrokenPipeError():
            # The reader closed the pipe. Without this, Python would complain once more at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return ExitCode.OK
        case OSError() if error.errno in SICK:
            where = error.filename if isinstance(error.filename, str) else "the disk"
            return _known(failed(where, error, "nothing that was recorded is lost"), as_json=as_json)
        case _:
            return _bug(error, as_json=as_json)


def _known(error: SantiagoError, *, as_json: bool) -> int:
    where = f"{error.where}:{error.line}" if error.where and error.line else error.where
    if error.findings and not as_json:
        with suppress(OSError):
            show_findings(error.findings, where, ())
            say(f"Found {count(len(error.findings), 'error')}; nothing was started.", err=True)
    else:
        _say(error.message, where, error.hint, as_json=as_json, reason=error.reason, findings=error.findings)
    return error.exit_code


def _usage(error: click.ClickException, *, as_json: bool) -> int:
    message = _plainly(error)
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f"See `{error.ctx.command_path} --help`."
    _say(message[:1].lower() + message[1:].rstrip("."), "", hint, as_json=as_json)
    return ExitCode.USAGE


def _plainly(error: click.ClickException) -> str:
    """Return click's own words, without the names of its types."""
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Argument) and error.ctx:
        return f"something is missing: {error.ctx.command_path} {error.param.make_metavar(error.ctx)}"
    words = error.format_message()
    for theirs, ours in _PLAIN:
        words = re.sub(theirs, ours, words)
    return words


_PLAIN = (
    (r"a valid integer(?: range)?", "a whole number"),
    (r"a valid float(?: range)?", "a number"),
    (r"is not in the range (\S+?)<=x<=([^\s.]+)", r"is not between \1 and \2"),
    (r"is not in the range x>=(\S+?)(?=\.?$)", r"is less than \1"),
)


def _bug(error: Exception, *, as_json: bool) -> int:
    """Print that an unexpected error is a bug in santiago, and write a crash report for its authors."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="santiago-crash-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(f"santiago {__version__}, Python {sys.version}\n\n")
            traceback.print_exception(error, file=file)
        told = f"The report is in {file.name}"
    except OSError as trouble:
        told = f"There is no report, since it cannot be written ({trouble.strerror}): run it again with --debug"
    message = f"this is a bug in santiago: {type(error).__name__}: {error}"
    _say(message, "", f"{told}; nothing that was recorded is lost.", as_json=as_json)
    return ExitCode.BUG


def _say(
    message: str,
    where: str,
    hint: str,
    *,
    as_json: bool,
    reason: str | None = None,
    findings: Sequence[Finding] = (),
) -> None:
    """Print an error. Where nobody is left to read it, such as on a closed terminal, its exit code says the rest."""
    with suppress(OSError):
        if as_json:
            body = {"message": message, "where": where or None, "hint": hint or None, "reason": reason}
            listed = {"findings": [asdict(finding) for finding in findings]} if findings else {}
            click.echo(json.dumps({"error": body, **listed}, ensure_ascii=False))
            return
        head = f"{where}: {message}" if where else message
        say(f"{paint('error:', 'bad')} {harmless(head)}", err=True)
        if hint:
            say(f"  fix: {harmless(hint)}", err=True)


def show_findings(findings: Sequence[Finding], path: str, lines: Sequence[str]) -> None:
    """Print findings with the lines of the document that they are about, sorted by line."""
    margin = len(str(max((finding.line for finding in findings), default=1)))
    for finding in findings:
        head = paint(f"{finding.level}[{finding.code}]:", _TONES[finding.level])
        say(f"{head} {harmless(finding.message)}", err=True)
        place = f"{path}:{finding.line}" if finding.line else path
        say(f"{' ' * margin} {paint('-->', 'dim')} {harmless(place)}", err=True)
        if 0 < finding.line <= len(lines):
            excerpt = harmless(lines[finding.line - 1].strip())
            excerpt = excerpt if len(excerpt) <= 110 else excerpt[:109] + "…"
            say(f"{finding.line:>{margin}} {paint('|', 'dim')} {excerpt}", err=True)
        say(f"{' ' * margin} = fix: {harmless(finding.hint)}", err=True)


def show_faults(faults: Iterable[Fault]) -> None:
    """Print faults of governance files, each with its place and its remedy."""
    for fault in faults:
        head = paint("error:", "bad", stderr=False)
        say(f"{head} {harmless(fault.where)}: {harmless(fault.message)}")
        say(f"  fix: {harmless(fault.remedy)}")
