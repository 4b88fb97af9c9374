"""Settings of linters are sealed where a check runs the linter, and only then (b.101)."""

from __future__ import annotations

import pytest

from tests.verification.test_seal import broken

BASE = {
    "app.py": b"", "app.ts": b"", "lib.rs": b"", "pyproject.toml": b"[project]\nname = 'x'\n[tool.ruff]\nline-length = 100\n[tool.mypy]\nstrict = true\n",
    "package.json": b'{"version": "1", "scripts": {"lint": "eslint ."}}', "tsconfig.json": b'{"compilerOptions": {"strict": true, "jsx": "react"}}',
    "setup.cfg": b"[flake8]\nmax-line-length = 100\n", "Makefile": b"lint:\n\tpython3 -m ruff check .\n", "Cargo.toml": b"[package]\nname = 'x'\n",
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "path", "text"),
    [
        ("ruff check .", "ruff.toml", b"exclude = ['*']\n"), ("make lint", "pkg/.ruff.toml", b"x = 1\n"), ("mypy app.py", "mypy.ini", b"[mypy]\n"),
        ("ruff check .", "pyproject.toml", BASE["pyproject.toml"].replace(b"100", b"100\nexclude = ['app.py']")),
        ("uv run mypy .", "pyproject.toml", BASE["pyproject.toml"].replace(b"strict", b"ignore_errors")), ("flake8", "setup.cfg", b"[flake8]\nignore = E\n"),
        ("npm run lint", ".eslintrc.json", b"{}"), ("npm run lint", "package.json", BASE["package.json"][:-1] + b', "eslintIgnore": ["*"]}'),
        ("npx tsc --noEmit", "tsconfig.json", b'{"compilerOptions": {"strict": false, "jsx": "react"}}'), ("npx tsc", "tsconfig.json", b"{}"),
        ("cargo clippy", "Cargo.toml", BASE["Cargo.toml"] + b"[lints.clippy]\nall = 'allow'\n"),
    ],
)  # fmt: skip
def test_settings_of_a_tool_that_a_check_runs_are_sealed(command: str, path: str, text: bytes) -> None:
    assert broken({path: text}, [command], base=BASE) == (path,)
    assert broken({path: text}, [command], (path,), base=BASE) == ()
    assert broken({path: text}, ["./run"], base=BASE) == ()


@pytest.mark.parametrize(
    ("command", "path", "text"),
    [
        ("ruff check .", "mypy.ini", b"[mypy]\n"), ("mypy .", "pyproject.toml", BASE["pyproject.toml"].replace(b"100", b"80")),
        ("ruff check .", "pyproject.toml", BASE["pyproject.toml"].replace(b"'x'", b"'x'\ndependencies = ['a']")),
        ("npm run lint", "package.json", BASE["package.json"].replace(b'"1"', b'"2"')),
        ("npx tsc", "tsconfig.json", b'{"compilerOptions": {"strict": true, "jsx": "preserve", "target": "es2022"}}'),
        ("golangci-lint run", ".golangci.yml", b"x"), ("cargo clippy", "Cargo.toml", BASE["Cargo.toml"] + b"[dependencies]\na = '1'\n"),
        ("ruff check .", "setup.cfg", b"[flake8]\n"),
    ],
)  # fmt: skip
def test_other_settings_and_those_of_a_project_that_begins_are_not(command: str, path: str, text: bytes) -> None:
    assert broken({path: text}, [command], base=BASE) == ()


def test_what_a_tool_looks_at_may_not_be_hidden_from_it() -> None:
    base = {**BASE, "pkg/mod.py": b"", ".gitignore": b"*.pyc\n"}
    for path, text in {".gitignore": b"*.pyc\napp.py\n", ".ignore": b"/pkg/\n", "pkg/.gitignore": b"*.py\n"}.items():
        assert broken({path: text}, ["ruff check ."], base=base) == (path,)
        assert broken({path: text}, ["./run"], base=base) == ()
    assert broken({".gitignore": b"build/\n.venv/\n__pycache__/\nnotes.txt\n"}, ["ruff check ."], base=base) == ()
    assert broken({".gitignore": b"*.pyc\napp.py\n", "app.py": None}, ["ruff check ."], base=base) == ()


def test_no_stub_takes_the_place_of_a_module() -> None:
    assert broken({"app.pyi": b""}, ["mypy ."], base=BASE) == ("app.pyi",)
    assert broken({"app.pyi": b""}, ["ruff check ."], base=BASE) == ()
    assert broken({"fast.pyi": b""}, ["mypy ."], base=BASE) == ()
