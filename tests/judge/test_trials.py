"""Which check is told its story, and whose results are taken for whose: one story's never for another's.

A check that stays green when nothing but its tests is left sees nothing of the checkout.
"""

from __future__ import annotations

import ast
import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from santiago.contract.policy import RunInput
from santiago.contract.ports.workspace import PATCH_CUT
from santiago.judge.shown import sees as does_see
from santiago.judge.trials import GARBAGE, Trial, Trials, spoil
from tests.judge.showing import shown
from tests.util.each import each

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from santiago.contract.ports.run import Stop
    from santiago.judge.shown import Shown

GOING = cast("Stop", SimpleNamespace(soon=lambda: False, now=lambda: False))
SHARED, ASKING = "pytest -q", 'test -f "$SANTIAGO_STORY.txt"'


class Checks:
    """Runs nothing, and remembers what each command was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, str]]] = []
        self.words = "a"
        self.more: dict[str, Any] = {}

    def run(
        self, folder: str, commands: Sequence[str], told: Mapping[str, Mapping[str, str]], *_: object
    ) -> list[Shown]:
        self.told += [(command, dict(told[command])) for command in commands]
        found = [shown(self.words, command=command) for command in commands]
        return [replace(one, result=replace(one.result, **self.more)) for one in found]


def trials(checks: Checks, mentions: Callable[[], bool] = lambda: False) -> Trials:
    workspace: Any = SimpleNamespace(
        mentions=lambda commit, word: mentions(),
        tree=lambda commit: commit.partition("-")[0],
        checkout=lambda commit, name: f"/nowhere/{name}",
        discard=lambda folder: None,
        read=lambda commit, path: None,
    )
    return Trials(
        run_input=RunInput(contract_version=1, repo_path=".", prd_path="prd.md"),
        workspace=workspace,
        checks=cast("Any", checks),
        supply=cast("Any", SimpleNamespace(begin=lambda _: False)),
        prompt_path=lambda story, number: f"/prompts/{story}/{number}.md",
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


@each("command", [ASKING, "/opt/check.sh", "../check.sh", "./check.py", "sh -c 'env | grep S'"])
def test_a_check_that_may_ask_for_its_story_is_told_and_runs_for_each(command: str) -> None:
    checks = Checks()
    tried = trials(checks)
    for story in ("S1", "S2", "S2"):
        tried.results(trial(command, story), GOING)
    assert checks.told == [(command, {"SANTIAGO_STORY": "S1"}), (command, {"SANTIAGO_STORY": "S2"})]


def test_the_check_of_an_attempt_is_told_what_its_agent_is_told_and_one_of_the_run_of_no_story() -> None:
    checks = Checks()
    trials(checks).results(trial(ASKING, "S1", attempt=2), GOING)
    trials(checks).results(trial(ASKING, ""), GOING)
    told = {"SANTIAGO_STORY": "S1", "SANTIAGO_ATTEMPT": "2", "SANTIAGO_PROMPT_FILE": "/prompts/S1/2.md"}
    assert checks.told == [(ASKING, told), (ASKING, {})]


def test_where_the_repository_speaks_of_the_variables_every_check_is_told() -> None:
    checks, looks = Checks(), iter([True])
    tried = trials(checks, lambda: next(looks))  # it is looked at once
    for story in ("S1", "S2"):
        tried.results(trial(SHARED, story), GOING)
    assert [told for _, told in checks.told] == [{"SANTIAGO_STORY": "S1"}, {"SANTIAGO_STORY": "S2"}]


@each("patch", ["+os.environ['SANTIAGO_STORY']\n", f"+a{PATCH_CUT}"])
def test_from_work_that_speaks_of_them_on_every_check_is_told(patch: str) -> None:
    tried = trials(Checks())
    assert not tried.is_told(SHARED)
    tried.heed(patch)
    assert tried.is_told(SHARED)


def test_work_is_heeded_also_while_another_attempt_looks_at_the_base() -> None:
    asked, answer = threading.Event(), threading.Event()

    def mentions() -> bool:
        asked.set()
        answer.wait()
        return False

    tried = trials(Checks(), mentions)
    looking = threading.Thread(target=tried.results, args=(trial(SHARED, "S1"), GOING))
    looking.start()
    asked.wait()
    tried.heed("+os.environ['SANTIAGO_STORY']\n")
    answer.set()
    looking.join()
    assert tried.is_told(SHARED)


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


def test_a_result_belongs_to_its_tree_its_command_and_its_owner() -> None:
    checks = Checks()
    tried = trials(checks)
    for command, story, commit in ((ASKING, "S1", "a"), (ASKING, "S1", "b"), (SHARED, "S1", "a"), (ASKING, "S2", "a")):
        tried.results(trial(command, story, commit=f"{commit}-1"), GOING)
    assert len(checks.told) == 4


def test_what_runs_on_a_spoiled_checkout_is_told_the_same_and_remembered_by_nobody() -> None:
    checks = Checks()
    tried = trials(checks)
    tried.spoiled(trial(ASKING, "S1"), ["a.py"], None, GOING)
    assert checks.told == [(ASKING, {"SANTIAGO_STORY": "S1"})]
    tried.results(trial(ASKING, "S1"), GOING)
    assert len(checks.told) == 2


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
    spoil(str(checkout), ["src/app.py", "not/there.py", "link.py"], None)
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
