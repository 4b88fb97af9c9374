"""Running a command line in this process: for what starts no run, and would only wait for an interpreter otherwise."""

import io
import os
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from santiago.cli.main import main
from tests.cli.santiago import UNPROVEN, trusted


class Told(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def inside(*arguments: str | Path, cwd: Path, env: dict[str, str] | None = None, code: int | None = None) -> Told:
    """Run a command line as a user in that folder would, without settings of whoever runs the tests; see it end with `code`."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SANTIAGO_")}
    out, err = io.StringIO(), io.StringIO()
    world = patch.dict(os.environ, {**clean, **UNPROVEN, **(env or {})}, clear=True)
    with world, chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        told = Told(main(trusted(*arguments)), "", "")
    assert code in (None, told.returncode), (told.returncode, out.getvalue(), err.getvalue())
    return told._replace(stdout=out.getvalue(), stderr=err.getvalue())
