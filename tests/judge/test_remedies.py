"""What is proposed for a check that cannot run is what its repository speaks for."""

from __future__ import annotations

from santiago.contract.ports.judge import Proposal
from santiago.judge.missing import Missing, remedy
from tests.util.each import each


def proposed(
    command: str, kind: str, name: str, files: dict[str, str], folders: tuple[str, ...] = ()
) -> tuple[str, Proposal | None]:
    def read(path: str) -> bytes | None:
        return files[path].encode() if path in files else None

    return remedy(Missing(command=command, kind=kind, name=name), files, read, lambda folder: folder in folders)


VENV = "python3 -m venv .venv && .venv/bin/pip install -q"
EXTRAS = '[project]\nname = "shop"\n[project.optional-dependencies]\ntest = ["x"]\ndocs = ["y"]\n'
GROUPS = '[project]\nname = "shop"\n[dependency-groups]\ndev = ["pytest>=8", "responses", {include-group = "x"}]\n'


@each(
    ("files", "install"),
    [
        ({}, "pytest"),
        ({"setup.py": ""}, "-e . pytest"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pytest"),
        ({"pyproject.toml": EXTRAS}, "-e '.[test]' pytest"),
        ({"pyproject.toml": GROUPS}, "-e . 'pytest>=8' responses pytest"),
        ({"pyproject.toml": "not toml ["}, "pytest"),
        ({"requirements.txt": "", "requirements-dev.txt": ""}, "-r requirements-dev.txt -r requirements.txt pytest"),
    ],
)
def test_an_environment_is_made_with_what_the_project_names_for_its_tests(files: dict[str, str], install: str) -> None:
    words, proposal = proposed("python3 -m pytest -q", "Python", "pytest", files)
    assert proposal == Proposal(check=".venv/bin/python -m pytest -q", setup=f"{VENV} {install}")
    assert words.startswith("Let set-up install it: setup = [")
    assert words.endswith("with `.venv/bin/python -m pytest -q` as the check.")


@each(
    ("command", "check"),
    [
        ("python -m unittest", ".venv/bin/python -m unittest"),
        ("pytest -x", ".venv/bin/python -m pytest -x"),
        ("uv run pytest", ".venv/bin/python -m pytest"),
        ("poetry run python -m pytest", ".venv/bin/python -m pytest"),
        ("make test", 'PATH="$PWD/.venv/bin:$PATH" make test'),
        ("cd api && python3 -m pytest", "cd api && .venv/bin/python -m pytest"),
    ],
)
def test_the_check_uses_the_environment_that_is_made(command: str, check: str) -> None:
    _, proposal = proposed(command, "Python", "pytest", {})
    assert proposal is not None
    assert proposal.check == check
    assert proposal.setup.startswith("cd api && " if command.startswith("cd") else "python3")


def test_an_environment_that_is_there_is_used_and_not_made_again() -> None:
    words, proposal = proposed("python3 -m pytest", "Python", "pytest", {}, (".venv",))
    assert proposal == Proposal(check=".venv/bin/python -m pytest")
    words, proposal = proposed(".venv/bin/python -m pytest", "Python", "pytest", {}, (".venv",))
    assert (words, proposal) == ("Install it there: `.venv/bin/python -m pip install pytest`.", None)


@each(
    ("command", "files", "setup"),
    [
        ("npm test", {"package.json": "{}"}, "npm install"),
        ("npm test", {"package-lock.json": "{}"}, "npm ci"),
        ("pnpm test", {"pnpm-lock.yaml": ""}, "pnpm install --frozen-lockfile"),
        ("cd web && npm test", {"web/package-lock.json": "{}"}, "cd web && npm ci"),
    ],
)
@each(("kind", "name"), [("Node", "left-pad"), ("program", "jest")])
def test_packages_are_installed_by_their_lock_file(
    kind: str, name: str, command: str, files: dict[str, str], setup: str
) -> None:
    assert proposed(command, kind, name, files)[1] == Proposal(check=command, setup=setup)


@each(("command", "name"), [("npm test", "npm"), ("just test", "just"), ("make test", "node")])
def test_a_program_of_the_machine_is_for_a_person_to_install(command: str, name: str) -> None:
    words, proposal = proposed(command, "program", name, {"package.json": "{}"})
    assert (words.startswith("Install it"), proposal) == (True, None)
