"""`santiago init`: find out how this repository tests itself, and write that down in santiago.toml."""

from __future__ import annotations

import json
import os
import re
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import click

from santiago.artifacts import repository
from santiago.artifacts.files import write_whole
from santiago.cli.view.advice import typed
from santiago.cli.view.text import paint, say
from santiago.contract.errors import Kind, SantiagoError


class Found(NamedTuple):
    """A way in which the repository tests itself."""

    test: str
    because: str
    setup: str = ""


@click.command("init")
@click.option("--verify", "commands", multiple=True, metavar="CMD", help="A check to write instead of the one found.")
@click.option("--force", is_flag=True, help="Replace an existing santiago.toml.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(commands: tuple[str, ...], force: bool, as_json: bool) -> None:
    """Write santiago.toml with this repository's test command, and keep .santiago out of git."""
    root = repository.find_root(Path.cwd()) or Path.cwd()
    target = root / "santiago.toml"
    if target.exists() and not force:
        raise SantiagoError(
            Kind.USAGE,
            "santiago.toml is already there",
            where=str(target),
            hint="Edit it, or use --force to replace it.",
        )
    found = [Found(test, "--verify") for test in commands] or detect(root)
    repository.keep_out_of_git(root / ".santiago")
    write_whole(target, settings(found).encode())
    if as_json:
        click.echo(json.dumps({"wrote": str(target), "checks": [f._asdict() for f in found]}, indent=2))
    else:
        _show(root, found)


def _show(root: Path, found: list[Found]) -> None:
    for one in found:
        say(f"{paint('Found', 'green', bold=True, stderr=False)}  {one.test}   (because of {one.because})")
    if not found:
        say(paint("No test command was found.", "yellow", bold=True, stderr=False))
        say("  fix: put one into story_commands in santiago.toml, or run: santiago init --force --verify 'CMD'")
    say("Wrote  santiago.toml, .santiago/.gitignore")
    begin = (
        "git init && git add -A" if repository.find_root(root) is None else f"git add {typed(root / 'santiago.toml')}"
    )
    say(f'next:  {begin} && git commit -m "Set santiago up"', verbatim=True)
    document = likely_document(root)
    check = "" if found else ' --verify "CMD"'
    say(f"       santiago run {'YOUR-PRD.md' if document is None else typed(document)}{check}", verbatim=True)


_TELLING = ("prd", "requirements", "user-stories", "user_stories", "stories", "spec", "tasks")
"""What the names of documents with requirements hold, the surest first."""


def likely_document(root: Path) -> Path | None:
    """Return the document that a run would most likely be about; none where no name tells."""
    found = [path for place in ("docs", ".") for path in sorted((root / place).glob("*.md"))[:500]]
    named = [(word, path) for word in _TELLING for path in found if word in path.stem.lower()]
    return named[0][1] if named else None


def detect(root: Path) -> list[Found]:
    """Return the test commands of the repository, the most particular evidence first; at most one per ecosystem."""
    return [found for look in (_task_file, _python, _javascript, _others) if (found := look(root)) is not None]


def _text(path: Path) -> str:
    try:
        return (
            path.read_text(encoding="utf-8", errors="replace") if path.is_file() and path.stat().st_size < 2**20 else ""
        )
    except OSError:
        return ""


def _task_file(root: Path) -> Found | None:
    """A Makefile or justfile with a `test` target says how the authors themselves do it."""
    for name, tool in (
        ("Makefile", "make test"),
        ("makefile", "make test"),
        ("justfile", "just test"),
        ("Justfile", "just test"),
    ):
        if re.search(r"^test\b[^\n=]*:", _text(root / name), re.MULTILINE):
            return Found(tool, f"the test target of {name}")
    return None


def _python(root: Path) -> Found | None:
    if _task_file(root):
        return None
    project = _text(root / "pyproject.toml")
    if (
        "pytest" in project
        or (root / "pytest.ini").is_file()
        or "[tool:pytest]" in _text(root / "setup.cfg")
        or "pytest" in _text(root / "requirements-dev.txt")
    ):
        if (root / "uv.lock").is_file():
            return Found("uv run pytest -q", "pytest with uv.lock")
        if (root / "poetry.lock").is_file():
            return Found("poetry run pytest -q", "pytest with poetry.lock")
        return Found("python3 -m pytest -q", "pytest in the project's settings")
    return _python_tests(root)


def _python_tests(root: Path) -> Found | None:
    """Tests that are plain functions are found by pytest alone, and it runs those of unittest as well."""
    files = [*islice(root.glob("test*/**/test_*.py"), _MOST_FILES), *islice(root.glob("test_*.py"), _MOST_FILES)]
    for path in files:
        if _FOR_PYTEST.search(_text(path)):
            return Found("python3 -m pytest -q", f"the tests in {path.relative_to(root)}")
    return Found("python3 -m unittest discover", "test_*.py files") if files else None


_MOST_FILES = 50
_FOR_PYTEST = re.compile(r"^(?:async )?def test_|^(?:import|from) pytest\b", re.MULTILINE)


def _javascript(root: Path) -> Found | None:
    if _task_file(root):
        return None
    try:
        package = json.loads(_text(root / "package.json") or "{}")
    except ValueError:
        return None
    script = (
        package.get("scripts", {}).get("test", "")
        if isinstance(package, dict) and isinstance(package.get("scripts"), dict)
        else ""
    )
    if not script or "no test specified" in str(script):
        return None
    for lock, tool, setup in (
        ("pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile"),
        ("yarn.lock", "yarn", "yarn install --frozen-lockfile"),
        ("bun.lock", "bun run", "bun install --frozen-lockfile"),
        ("bun.lockb", "bun run", "bun install --frozen-lockfile"),
        ("package-lock.json", "npm", "npm ci"),
    ):
        if (root / lock).is_file():
            return Found(
                f"{tool} test",
                f"the test script of package.json with {lock}",
                setup,
            )
    return Found(
        "npm test",
        "the test script of package.json",
        "npm install",
    )


_OTHERS: tuple[tuple[str, str], ...] = (
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
    ("gradlew", "./gradlew test"),
    ("build.gradle", "gradle test"),
    ("mvnw", "./mvnw -q test"),
    ("pom.xml", "mvn -q test"),
    ("mix.exs", "mix test"),
    ("deno.json", "deno test"),
    ("pubspec.yaml", "dart test"),
    ("Package.swift", "swift test"),
    ("composer.json", "composer test"),
)


def _others(root: Path) -> Found | None:
    if _task_file(root):
        return None
    for name, test in _OTHERS:
        if (root / name).is_file():
            return Found(test, name)
    if (root / "spec").is_dir() and (root / "Gemfile").is_file():
        return Found("bundle exec rspec", "Gemfile and spec/")
    if any(root.glob("*.sln")) or any(root.glob("*.csproj")):
        return Found("dotnet test", "a .NET solution")
    return None


def settings(found: list[Found]) -> str:
    """Return the text of santiago.toml."""
    setup = [one.setup for one in found if one.setup]
    return "\n".join(
        [
            "# Settings of santiago for this repository. `santiago config show` prints all of them with their origin.",
            "",
            "[verification]",
            "# Run after every attempt, in a clean checkout; a story is done only when all of them pass.",
            f"story_commands = {_toml_list([one.test for one in found])}",
            "# Files that no attempt may change or delete unless its story names them; @tests stands for all tests.",
            'protected = ["@tests"]',
            "",
            *_agent_lines(),
            "[workspace]",
            "# Prepares a fresh checkout, before an attempt and before its verdict.",
            f"setup = {_toml_list(setup)}",
            "",
        ]
    )


def _agent_lines() -> list[str]:
    """Return a comment about the agent: which one is taken depends on the machine, so nothing is set for others."""
    from santiago.cli.profiles import own_catalog

    try:
        ready = own_catalog().first_ready(os.environ)
    except SantiagoError:
        ready = None
    name = ready.profile.name if ready else "claude"
    return [
        "# [agent]",
        f'# profile = "{name}"   # without it: the first agent that is installed and signed in; `santiago doctor` shows them',
        "",
    ]


def _toml_list(values: list[str]) -> str:
    return "[" + ", ".join(json.dumps(value, ensure_ascii=False) for value in values) + "]"
