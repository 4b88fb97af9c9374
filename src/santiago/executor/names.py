"""By which names programs and commands know a file."""

from __future__ import annotations

import re


def module(path: str) -> str:
    """Return the name by which a file is imported."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in {"__init__", "index"} else stem


def is_named(path: str, command: str) -> bool:
    """Tell whether a command names a file: by its path, as a module, or by the name of a test."""
    plain = path.rpartition(".")[0]
    stem = plain.rpartition("/")[2]
    is_test = re.fullmatch(r"test_.+|.+[_.](?:test|spec)", stem) is not None
    return plain in command or plain.replace("/", ".") in command or (is_test and stem in command)
