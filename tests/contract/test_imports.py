"""Nobody pays for what they do not use: help and version load no validation, no colours, no planner, and no command loads much."""

import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

from santiago import contract
from tests.cli import greeter
from tests.cli.santiago import santiago
from tests.util.each import each

HEAVY = {"pydantic", "pydantic_core", "rich", "yaml", "markdown_it", "textual", "santiago.planner"}
SOURCE = Path(contract.__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(contract.__path__, "santiago.contract.")
    if module.name.split(".")[2] not in {"codec", "schema"}
)


def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that a Python process imports, as the interpreter itself lists them."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    return listed(ran.stderr)


def listed(errors: str) -> set[str]:
    lines = [line for line in errors.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def families(modules: set[str], names: set[str] = HEAVY) -> set[str]:
    """Return which of the heavy packages these modules belong to."""
    return {name for name in names if any(f"{module}.".startswith(f"{name}.") for module in modules)}


@each("option", ["--help", "--version"])
def test_help_and_version_load_nothing_heavy(option: str) -> None:
    modules = loaded_by("-m", "santiago", option)
    assert "santiago.cli" in modules
    assert families(modules) == set()


def test_the_contract_without_codec_and_schema_loads_no_validation() -> None:
    modules = loaded_by("-c", "; ".join(f"import {name}" for name in MODULES))
    assert set(MODULES) <= modules
    assert {"santiago.contract.state", "santiago.contract.views", "santiago.contract.quantities"} <= modules
    assert families(modules) == set()


READ = "from santiago.contract import codec, policy; codec.decode(policy.RunInput, b'{{{}}}', 'f')"
FIELDS = '"contract_version": 1, "repo_path": "/r", "prd_path": "p"'


def test_the_codec_loads_validation_only_once_something_is_unusual() -> None:
    written = "; codec.canonical(policy.Limits())"
    assert families(loaded_by("-c", READ.format(FIELDS) + written)) == set()
    unusual = READ.format(FIELDS + ', "limits": {"story_max_attempts": 0}')
    code = f"try:\n    {unusual}\nexcept Exception as error:\n    assert 'story_max_attempts' in error.message"
    assert "pydantic" in families(loaded_by("-c", code))


DOCUMENT = "# PRD\n\n## User Stories\n\n### US-1: Make x\n\n- [ ] the file x exists\n"
RUN = ("run", "prd.md", "--agent", "touch x", "--verify", "test -f x")
RARE = {"pydantic", "rich", "yaml", "textual", "configparser", "zoneinfo", "importlib.resources", "xml"}
BOARD = {"santiago.board.board_commands", "sqlite3"}
WORK = {"santiago.planner.reading", "santiago.judge.tree_judge", "santiago.agent", "santiago.executor.loop"}
LOOKING = {*RARE, *WORK, "santiago.contract.session", "tomllib", "socket", "difflib"}
AGAIN = ("plan", "prd.md", "--out-dir", "../again")
PLANNING = {*RARE, *BOARD, *WORK, "santiago.simulation.forecast", "statistics"} - {
    "santiago.planner.reading",
    "santiago.agent",
}
"""What `plan` does not need, even where a run has begun, as long as runs tell too little for a forecast."""


def test_a_command_loads_no_large_part_that_it_does_not_use(tmp_path: Path) -> None:
    repo = greeter.committed(tmp_path / "repo", {"prd.md": DOCUMENT})
    looking = ((("status",), LOOKING | BOARD), (("queue", "list"), LOOKING))
    for command, unused in ((RUN, RARE | BOARD), (AGAIN, PLANNING), *looking):
        python = ("-X", "importtime", "-m", "santiago")
        ran = santiago(*command, cwd=repo, env=greeter.place(repo), program=python)
        modules = listed(ran.stderr)
        assert (ran.returncode, "santiago.cli.main" in modules) == (0, True)
        assert families(modules, unused) == set()


def test_no_pattern_or_class_of_a_module_is_compiled_when_it_is_loaded_and_no_pattern_has_a_possessive_group() -> None:
    """Python before 3.11.5 does not match such a group that has to try more ways: a private key was not hidden by it."""
    texts = {path: path.read_text("utf-8") for path in SOURCE.rglob("*.py")}
    assert len(texts) > 100
    # A method of a pattern is allowed: it is taken where the module uses it whatever the command is.
    compiled = r"^\w+ = re\.compile\((?!.*\)\.\w+$)"
    dataclass = r"^\s*@(?:dataclasses\.)?dataclass\b"
    possessive = r"\(\?.*\)(?:\{\d*,?\d*\}|[+*?])\+"
    wrong = re.compile(f"{compiled}|{dataclass}|{possessive}", re.MULTILINE)
    assert [(path, found.group()) for path, text in texts.items() if (found := wrong.search(text))] == []
