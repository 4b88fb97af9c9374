"""What is only started may end itself; what another program loads may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from santiago.verification.provoking.importing import imported

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/test_calc.py", "from calc import add\n"),
        ("tests/test_calc.py", "from pkg import (\n    other,\n    calc,\n)\n"),
        ("tests/test_calc.py", "import importlib\nimportlib.import_module('calc')\n"),
        ("other.py", "import pkg.calc as c\n"),
        ("check.sh", "python3 -c 'import calc; print(calc.add(2, 3))'\n"),
        ("Makefile", "test:\n\tpython3 -c 'from calc import add'\n"),
    ],
)
def test_a_module_that_any_other_file_imports_is_loaded(tmp_path: Path, path: str, text: str) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(text)
    assert imported(str(tmp_path), {path}, (), {"calc.py": "calc"}) == ("calc.py",)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("check.sh", "python3 calc.py 2 3 > out.txt\ndiff expected.txt out.txt\n"),
        ("test_calc.py", "import subprocess, sys\nsubprocess.run([sys.executable, 'calc.py'], check=True)\n"),
        ("calc.py", "from calc import add\n"),
        ("README.md", "import calc\n"),
        ("other.py", "import calculus\n"),
    ],
)
def test_a_module_that_is_only_started_is_not(tmp_path: Path, path: str, text: str) -> None:
    (tmp_path / path).write_text(text)
    assert not imported(str(tmp_path), {path}, ("python3 -m calc", "sh check.sh"), {"calc.py": "calc"})


def test_a_command_may_import_it_as_well(tmp_path: Path) -> None:
    command = "python3 -c 'import calc'"
    assert imported(str(tmp_path), (), [command], {"calc.py": "calc", "other.py": "other"}) == ("calc.py",)
