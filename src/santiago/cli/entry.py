"""The entry point. Help and version must be fast, so they load nothing at all."""

from __future__ import annotations

import gc
import io
import os
import sys

from santiago import __version__
from santiago.cli.commands import COMPLETING, overview


def entry() -> None:
    arguments = sys.argv[1:]
    _take_any_letter(as_json="--json" in arguments)
    _look_only_in_absolute_folders()
    asked_by_shell = COMPLETING in os.environ  # the shell asks for completions, without arguments
    if arguments in (["-h"], ["--help"], ["help"]) and not asked_by_shell:
        _say(overview())
    if arguments in (["-V"], ["--version"], ["version"]) and not asked_by_shell:
        _say(f"santiago {__version__}")
    # Modules and plans live until the end, so frequent garbage collection would find nothing.
    gc.set_threshold(100_000, 20, 100)
    from santiago.cli.main import main

    code = main(arguments)
    if not _all_was_printed():
        code = code or 20
    gc.freeze()  # Python collects once more when it ends, which would take longer than loading click
    if "temporalio" in sys.modules:
        os._exit(code)  # the library's own threads may still answer, and crash a Python that is taking itself apart
    sys.exit(code)


def _say(text: str) -> None:
    """Print a text and end. Its reader may have seen enough before its end, or its disk be full."""
    try:
        print(text)  # noqa: T201  # before there is a command line there is no other way
    except OSError:
        _all_was_printed()
        sys.exit(20)
    sys.exit(0 if _all_was_printed() else 20)


def _take_any_letter(*, as_json: bool) -> None:
    """Have the streams replace what their encoding lacks: no text of a document or an agent may end a command.

    JSON is UTF-8 whatever the terminal is, and loses nothing.
    """
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            as_data = as_json and stream is sys.stdout
            try:
                stream.reconfigure(
                    errors="backslashreplace" if as_data else "replace", encoding="utf-8" if as_data else None
                )
            except OSError:  # its file was replaced by one of another kind
                continue


def _all_was_printed() -> bool:
    """Drop what a closed terminal or a full disk does not take. Python would try once more, and end with a code of its own."""
    whole = True
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            whole = False
    return whole


def _look_only_in_absolute_folders() -> None:
    """Leave only absolute entries in PATH: others, and empty ones, would take programs from wherever a command is typed."""
    if "PATH" in os.environ:
        entries = [entry for entry in os.environ["PATH"].split(os.pathsep) if entry.startswith("/")]
        os.environ["PATH"] = os.pathsep.join(entries) or os.defpath
