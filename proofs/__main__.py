"""`python -m proofs NAME [options]`: one proof; its figures are printed and, at its documented size, written into docs/proofs.md.

`all [--short]` runs one after the other, `stale` names the rows that must be measured again, `page` writes the tables
anew. `--no-write` only prints; `--write` writes figures of another size as well. The exit code is 1 where a target is missed.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

from proofs import figures
from proofs.rows import PROOFS
from proofs.running import each, one

NAMES = tuple(dict.fromkeys(measurement.words[0] for measurement in PROOFS))


def main(arguments: list[str]) -> int:
    sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
    name, words = arguments[0] if arguments else "", arguments[1:]
    if name in NAMES:
        return _one(name, words)
    if name == "all" and not set(words) - {"--short", "--no-write"}:
        return _all(words, short="--short" in words)
    if arguments == ["stale"]:
        found = list(figures.stale(figures.read()))
        print("\n".join(found) or "every row was measured on the code that is here")
        return 1 if found else 0
    if arguments == ["page"]:
        figures.write(figures.read())
        return 0
    print(f"usage: python -m proofs {'|'.join(NAMES)} [--write|--no-write] [options]")
    print("       python -m proofs all [--short] [--no-write] | stale | page")
    return 2


def _one(name: str, words: list[str]) -> int:
    options = [word for word in words if word not in ("--write", "--no-write")]
    command = " ".join(["python -m proofs", name, *options])
    why_not = "--no-write was given" if "--no-write" in words else ""
    if "--write" not in words and command not in {measurement.command for measurement in PROOFS}:
        why_not = why_not or "this is not the documented command (--write writes it all the same)"
    # Most proofs are about something else than what a test shows; those that are not, set it back.
    os.environ.setdefault("SANTIAGO_POLICY_UNPROVEN", "accept")
    run = import_module(f"proofs.{name.replace('-', '_')}").run
    return one(command, lambda: run(options), why_not=why_not)


def _all(words: list[str], *, short: bool) -> int:
    less = [measurement.short.split() if short else [] for measurement in PROOFS]
    no_write = ["--no-write"] if short or "--no-write" in words else []
    return each(
        [
            ["-m", "proofs", *measurement.words, *options, *no_write]
            for measurement, options in zip(PROOFS, less, strict=True)
        ]
    )


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
