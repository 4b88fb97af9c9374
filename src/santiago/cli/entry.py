"""The entry point. Help and version must be fast, so they load nothing at all."""

from __future__ import annotations

import gc
import os
import sys


def entry() -> None:
    arguments = sys.argv[1:]
    asked_by_shell = "_SANTIAGO_COMPLETE" in os.environ  # the shell asks for completions, without arguments
    if arguments in (["-h"], ["--help"], ["help"]) and not asked_by_shell:
        from santiago.cli.commands import overview

        print(overview())  # noqa: T201  # before there is a command line there is no other way
        sys.exit(0)
    if arguments in (["-V"], ["--version"], ["version"]) and not asked_by_shell:
        from santiago import __version__

        print(f"santiago {__version__}")  # noqa: T201  # as above
        sys.exit(0)
    # Modules and plans live until the end, so frequent garbage collection would find nothing.
    gc.set_threshold(100_000, 20, 100)
    from santiago.cli.main import main

    code = main(arguments)
    gc.freeze()  # Python collects once more when it ends, which would take longer than loading click
    sys.exit(code)
