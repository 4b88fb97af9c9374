"""Which check is told its story, and whose results are taken for whose: one story's never for another's.

A check that stays green when nothing but its tests is left sees nothing of the checkout.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from santiago.contract.policy import RunInput
from santiago.contract.ports.run import Stop
from santiago.judge.comparison import Shown
from santiago.judge.comparison import sees as does_see
from santiago.judge.trials import GARBAGE, Trial, Trials, spoil
from santiago.workspace.examined import FolderOfNotes
from tests.judge.showing import shown
from tests.util.each import each

GOING = cast("Stop", SimpleNamespace(soon=lambda: False, now=lambda: False))
SHARED, ASKING = "pytest -q", 'test -f "$SANTIAGO_STORY.txt"'


class Checks:
    """Runs nothing, and remembers what each command was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, str]]] = []
        self.words = "a"
        self.more: dict[str, Any] = {}

    def run(
        self, name: str, folder: str, commands: Sequence[str], told: Mapping[str, Mapping[str, str]], *_: object
    ) -> list[Shown]:
        self.told += [(command, dict(told[command])) for command in commands]
        found = [shown(self.words, command=command) for command in commands]
        return [replace(one, result=replace(one.result, **self.more)) for one in found]


def trials(checks: Checks) -> Trials:
    workspace: Any = SimpleNamespace(
        tree=lambda commit: commit.partition("-")[0],
        checkout=lambda commit, name: f"/nowhere/{name}",
        discard=lambda folder: None,
    )
    return Trials(
        run_input=RunInput(contract_version=1, repo_path=".", prd_path="prd.md"),
        workspace=workspace,
        checks=cast("Any", checks),
        supply=cast("Any", SimpleNamespace(begin=lambda _: False)),
        prompt_path=lambda story, number: f"/prompts/{story}/{number}.md",
        notes=FolderOfNotes(Path("/nowhere")),
    )


def trial(
    command: str, story: str, *, commit: str = "tree-1", attempt: int | None = None, as_base: bool = False
) -> Trial:
    return Trial(name="x", commit=commit, commands=[command], story=story, attempt=attempt, as_base=as_base)


def test_a_check_that_cannot_ask_for_its_story_is_not_told_and_runs_once_for_all() -> None:
    checks = Checks()
    tried = trials(checks)
    tried.results(trial(SHARED, "S1", attempt=1), GOING)
    again = tried.results(trial(SHARED, "S2", commit="tree-2", attempt=1), GOING)
    assert checks.told == [(SHARED, {})]
    assert again[SHARED].result.reused


@each("command", ["/opt/check.sh", "./check.py", "sh -c 'env | grep S'", "SANTIAGO_RUN=x make", "echo SANTIAGO_STOR"])
def test_a_check_that_does_not_name_them_gets_no_variable_of_its_story_whatever_it_runs(command: str) -> None:
    """Board and people alike: what a check runs cannot ask which story, attempt or tree it judges."""
    checks = Checks()
    tried = trials(checks)
    for story in ("S1", "S2", "S2"):
        tried.results(trial(command, story, attempt=1), GOING)
    assert checks.told == [(command, {})]


@each(
    ("command", "told"),
    [
        (ASKING, {"SANTIAGO_STORY": "S1"}),
        ("sh check.sh ${SANTIAGO_ATTEMPT}", {"SANTIAGO_ATTEMPT": "2"}),
        ('A="$SANTIAGO_PROMPT_FILE" make', {"SANTIAGO_PROMPT_FILE": "/prompts/S1/2.md"}),
        ("x $SANTIAGO_STORY $SANTIAGO_ATTEMPT", {"SANTIAGO_STORY": "S1", "SANTIAGO_ATTEMPT": "2"}),
    ],
)
def test_a_check_gets_the_variables_that_it_names_and_one_of_the_run_none(command: str, told: dict[str, str]) -> None:
    checks = Checks()
    trials(checks).results(trial(command, "S1", attempt=2), GOING)
    trials(checks).results(trial(command, ""), GOING)
    assert checks.told == [(command, told), (command, {})]


def runs(words: str, *as_base: bool, **more: object) -> int:
    """Return how often a check runs that is asked for on one tree, as one of a base or not, and always shows this."""
    checks = Checks()
    checks.words, checks.more = words, more
    tried = trials(checks)
    for one in as_base:
        tried.results(trial(SHARED, "S1", as_base=one), GOING)
    return len(checks.told)


def test_a_pass_is_remembered_and_a_failed_check_of_an_attempt_runs_again_but_one_of_a_base_does_not() -> None:
    """A check that flaked once must not be the failure of every later attempt."""
    assert runs("a b", True, True, False) == runs("a b", False, False, True) == 1
    assert runs("a-", True, True, True) == 1
    assert runs("a-", True, True, False, False) == 3
    assert runs("a-", False, True, True) == 2


@each("more", [{"timed_out": True}, {"exit_code": None}])
def test_a_check_that_did_not_come_to_its_end_is_never_remembered(more: dict[str, object]) -> None:
    assert runs("a-", True, True, **more) == 2


def test_a_result_belongs_to_its_tree_its_command_and_the_variables_that_it_got() -> None:
    checks, counting = Checks(), "test $SANTIAGO_ATTEMPT"
    tried = trials(checks)
    asked = [(ASKING, "S1", "a", 1), (ASKING, "S1", "b", 1), (SHARED, "S1", "a", 1), (ASKING, "S2", "a", 1)]
    for command, story, commit, attempt in (*asked, *asked, (counting, "S1", "a", 1), (counting, "S1", "a", 2)):
        tried.results(trial(command, story, commit=f"{commit}-1", attempt=attempt), GOING)
    assert len(checks.told) == 6


def test_what_runs_on_a_spoiled_checkout_is_told_the_same_and_is_never_taken_for_the_whole_tree() -> None:
    checks = Checks()
    tried, whole = trials(checks), trial(ASKING, "S1", as_base=True)
    for one in (replace(whole, spoils=("a.py",)), replace(whole, spoils=("a.py",), spoiled_by=GARBAGE), whole, whole):
        tried.results(one, GOING)
    assert checks.told == [(ASKING, {"SANTIAGO_STORY": "S1"})] * 3


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / "src").mkdir(parents=True)
    (folder / "src/app.py").write_text("x = 1\n")
    (folder / "test_app.py").write_text("import app\n")
    (tmp_path / "outside.py").write_text("mine\n")
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    (folder / "away").symlink_to(tmp_path)
    return folder


def test_overwritten_files_are_there_and_of_no_language(checkout: Path) -> None:
    spoil(str(checkout), ["src/app.py", "not/there.py"], GARBAGE)
    assert (checkout / "test_app.py").read_text() == "import app\n"
    with pytest.raises((SyntaxError, ValueError)):
        ast.parse((checkout / "src/app.py").read_bytes())


def test_removed_files_are_gone(checkout: Path) -> None:
    (checkout / "sub").mkdir()  # of a submodule
    spoil(str(checkout), ["src/app.py", "not/there.py", "link.py", "sub"], None)
    assert not (checkout / "src/app.py").exists()
    assert not (checkout / "link.py").is_symlink()


@pytest.mark.parametrize("content", [GARBAGE, None])
def test_nothing_outside_the_checkout_is_touched(content: bytes | None, checkout: Path) -> None:
    spoil(str(checkout), ["link.py", "away/outside.py", "../outside.py"], content)
    assert (checkout.parent / "outside.py").read_text() == "mine\n"


@each(
    ("before", "spoiled", "sees"),
    [
        (shown(), shown(exit_code=1), True),
        (shown(), shown(), False),
        (shown("a b"), shown("a b-"), True),
        (shown("a b"), shown("a"), True),
        (shown("a b"), shown("a b"), False),
        (shown("a b-"), shown("a- b-"), True),
        (shown("a b-"), shown("a b-"), False),
        (shown("a b-"), shown("a b"), True),  # what fails on the whole tree alone looks at it
    ],
)
def test_a_check_sees_where_anything_that_passed_does_not(before: Shown, spoiled: Shown, sees: bool) -> None:
    assert does_see(before, spoiled) is sees
