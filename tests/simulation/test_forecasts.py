"""What is told before a run: drawn from logs, held against what happens, and named by what holds it up."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from proofs.calibration import LEAST, MOST, held

from santiago.app import expected
from santiago.app.earlier_runs import HERE, history_elsewhere, history_here
from santiago.app.forecasting import compared, task_of
from santiago.app.loading import load
from santiago.contract.plan import Plan, Story
from santiago.contract.policy import Limits, Policy, RunInput
from santiago.contract.quantities import Usd
from santiago.contract.reasons import MEANINGS, Reason
from santiago.executor.schedule import followed
from santiago.report.forecast_page import bottleneck, off, page, sentence, svg
from santiago.simulation.drawn_run import Task
from santiago.simulation.draws import Draws, Said, with_options
from santiago.simulation.forecast import Gain, critical_path, forecast, gains
from santiago.simulation.history import History, Tried
from santiago.simulation.random_plans import plan_of, story
from tests.cli.inside import inside
from tests.simulation.planted import PLAN, plant
from tests.util.each import each

STEADY = with_options(None, Said(attempt=(60_000, 60_000), success=1.0, micro_usd=10_000, check_ms=1_000))
WIDE = Limits(run_max_attempts=1000)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("home/repo/.git", "home/other/.git"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "home" / "repo"


def task(plan: Plan, limits: Limits = WIDE, policy: Policy | None = None) -> Task:
    return Task(plan=plan, limits=limits, policy=policy or Policy())


def costs(one: Task, history: History, jobs: int, runs: int) -> list[Gain]:
    return gains(one, history, forecast(one, history, jobs, runs), runs)


def test_a_log_tells_what_its_attempts_took_and_cost(repo: Path) -> None:
    plant(repo, 2)
    found = history_here(repo)
    assert found is not None
    assert (found.origin, found.runs) == (HERE, 2)
    assert len(found.attempts) >= 10
    passed = [one for one in found.attempts if one.reason is None]
    assert len(passed) == 10, "each story passes once in each run"
    assert {one.reason for one in found.attempts} <= {None, Reason.STORY_VERIFICATION_FAILED}
    assert {(one.micro_usd, one.verify_ms) for one in found.attempts} == {(300_000, 20_000)}
    assert all(60_000 < one.agent_ms < 900_000 for one in passed)


def test_where_this_repository_tells_nothing_the_users_others_do(repo: Path) -> None:
    assert history_here(repo) is history_elsewhere(repo) is None
    plant(repo.parent / "other", 1)
    found = history_elsewhere(repo)
    assert history_here(repo) is None
    assert found is not None
    assert (found.origin, found.runs) == ("in your other repositories", 1)


def test_the_same_seed_gives_the_same_forecast_and_another_plan_keeps_its_luck() -> None:
    plan = plan_of([story("S1"), story("S2", needs=["S1"])])
    history = with_options(None, Said())
    one, same = (forecast(task(plan), history, 1, 20, 3) for _ in range(2))
    assert [run.ms for run in one.runs] == [run.ms for run in same.runs]
    assert one.ms != forecast(task(plan), history, 1, 20, 4).ms
    draws = Draws(history, "3:0")
    assert draws.attempt("S2", 1) == Draws(history, "3:0").attempt("S2", 1)


def test_a_steady_run_takes_what_its_schedule_says_and_costs_what_its_attempts_cost() -> None:
    """Four attempts of a minute and a second, one after the other, the base and the end: no second verdict with one job."""
    plan = plan_of([story(f"S{number}") for number in range(1, 5)])
    serial, parallel = (forecast(task(plan), STEADY, jobs, 10) for jobs in (1, 4))
    assert set(serial.ms) == {4 * 61_000 + 2 * 1_000}
    assert serial.micro_usd is not None
    assert set(serial.micro_usd) == {40_000}
    assert serial.chance == 1
    assert 61_000 < parallel.ms.middle <= 61_000 + 5 * 1_000


@each(
    ("stories", "jobs", "name"),
    [
        ([story("S1"), story("S2", needs=["S1"]), story("S3", needs=["S2"])], 3, "dependencies"),
        ([story(f"S{number}", files=["app.py"]) for number in range(1, 5)], 4, "files that stories share"),
        ([story(f"S{number}", files=[]) for number in range(1, 5)], 4, "stories without files"),
        ([story(f"S{number}", chunk=f"C0{number}") for number in range(1, 5)], 4, "chunks"),
        ([story(f"S{number}") for number in range(1, 5)], 1, "jobs"),
        ([story("S1")], 1, ""),
    ],
)  # fmt: skip
def test_what_holds_a_run_up_is_named(stories: list[Story], jobs: int, name: str) -> None:
    assert bottleneck(costs(task(plan_of(stories)), STEADY, jobs, 10)) == name


def test_a_limit_that_ends_runs_is_named_and_rate_limits_and_people_cost_time() -> None:
    plan = plan_of([story(f"S{number}") for number in range(1, 6)])
    short = forecast(task(plan, Limits(run_max_cost_usd=Usd(30_000))), STEADY, 1, 10)
    assert short.chance == 0
    assert set(short.ends) == {"cost_budget_exhausted run_max_cost_usd"}
    refusing = (*STEADY.attempts, *[Tried(1000, 0, Reason.AGENT_RATE_LIMITED, 1, 0, 600)] * 40)
    history = History(attempts=refusing, checks=STEADY.checks, people=(900_000,), origin="here")
    asking = task(plan, policy=Policy(gates=("result",)))
    assert {one.name for one in costs(asking, history, 1, 20)} >= {"rate limits", "people's gates"}


def test_where_most_runs_end_early_their_end_is_explained_and_nothing_is_said_of_what_makes_them_faster() -> None:
    one = task(plan_of([story(f"S{number}") for number in range(1, 6)]), Limits(story_max_attempts=2))
    history = with_options(None, Said(attempt=(60_000, 60_000), success=0.0))
    found = forecast(one, history, 1, 10)
    assert gains(one, history, found, 10) == []
    told = {line.label: line.text for line in page(one, history, [found], [], 0, "x").lines(80) if line.label}
    assert told.keys() == {"Drawn", "Ends", "Held up", "Budgets"}
    assert MEANINGS[Reason.ATTEMPT_BUDGET_EXHAUSTED].sentence.lower().rstrip(".") in told["Ends"]
    assert "limits.story_max_attempts" in told["Budgets"]
    assumed, _, from_options = told["Drawn"].partition("from options")
    assert "$0.40" in assumed
    assert "3 to 8 min" not in assumed
    assert "time of an attempt" in from_options


def test_the_critical_path_adds_up_to_the_run() -> None:
    """The hops of a path follow one another, and each says why it came after the one before."""
    for seed in range(8):
        random = Random(seed)
        names = [f"S{number}" for number in range(1, 9)]
        stories = [
            story(
                one, needs=sorted(random.sample(names[:at], min(at, 1))), files=random.choice((["own"], ["app.py"], []))
            )
            for at, one in enumerate(names)
        ]
        plan = plan_of(stories)
        usual = forecast(task(plan), with_options(None, Said()), 2, 10, seed).usual
        path = critical_path(plan, usual.course)
        assert sum(hop.ms for hop in path) == pytest.approx(max(usual.course.done.values()), abs=70_000)
        assert [bool(hop.why) for hop in path] == [False, *[True] * (len(path) - 1)]
        waits = followed(plan)
        assert all(hop.why != "needs" or plan.stories[int(hop.story[1:]) - 1].depends_on for hop in path)
        assert all(waits[hop.story] for hop in path if hop.why.startswith(("shares", "names")))


def test_the_rest_of_a_run_takes_less_and_counts_what_was_spent(repo: Path) -> None:
    *_, last = plant(repo, 3, whole=False)
    run, history = load(last), history_here(repo)
    assert history is not None
    left = task_of(run, run.history.last)
    assert left.under_way, "an attempt is under way"
    rest, anew = (forecast(one, history, 2, 20) for one in (left, task(PLAN)))
    assert rest.ms.middle < anew.ms.middle
    assert rest.micro_usd is not None
    assert rest.micro_usd.low >= run.state.cost_micro_usd


def test_nothing_is_said_without_history_and_little_history_says_nothing(repo: Path) -> None:
    settings = RunInput(contract_version=1, repo_path=str(repo), prd_path="prd.md")
    assert expected.of_plan(PLAN, settings) is None
    plant(repo, 1)
    assert expected.of_plan(PLAN, settings) is None, "five or six attempts are no sample"
    plant(repo.parent / "other", 3)
    assert expected.of_plan(PLAN, settings) is None
    many = RunInput(contract_version=1, repo_path=str(repo.parent / "other"), prd_path="prd.md")
    said = sentence(expected.of_plan(PLAN, many))
    assert said.startswith("about ")
    assert " attempts here" in said
    assert "with 1 job" in said


def test_runs_are_compared_with_what_was_known_before_each(repo: Path) -> None:
    plant(repo, 5)
    found = list(compared(repo))
    assert [one.run_id for one in found] == [f"r_2026010{number}_000000" for number in (3, 4, 5)], (
        "before these there is enough"
    )
    assert [one.said.attempts for one in found] == sorted(one.said.attempts for one in found)
    assert all("forecast: " in off(one.said, one.ms) for one in found)
    assert all(one.said.ms.low / 3 < one.ms < one.said.ms.high * 3 for one in found)


def test_forecasts_hold_what_they_promise() -> None:
    """`python -m proofs calibration` has 400; these are the first of them."""
    count = 20
    found = [held(seed, runs=20) for seed in range(count)]
    for share in (sum(one.time for one in found) / count, sum(one.money for one in found) / count):
        assert LEAST - 0.1 <= share <= MOST + 0.1


def test_the_command_tells_people_and_programs_and_draws(repo: Path) -> None:
    folder = plant(repo, 3)[-1]
    told = inside(
        "simulate", folder / "plan.json", "--jobs", "1,2", "--runs", "10", "--svg", "run.svg", cwd=repo, code=0
    )
    assert "attempts of 3 runs here" in told.stdout
    assert (repo / "run.svg").read_text().startswith("<svg ")
    data = json.loads(inside("simulate", folder.name, "--runs", "10", "--json", cwd=repo, code=0).stdout)
    assert [one["jobs"] for one in data["jobs"]] == [2]
    assert data["drawn_from"]["origin"] == "here"
    assert json.loads(inside("simulate", "--calibrate", "--json", cwd=repo, code=0).stdout)["runs"]
    for wrong in (("--jobs", "x"), ("--attempt", "9m..3m"), ("--check", "soon")):
        inside("simulate", folder.name, *wrong, cwd=repo, code=2)


def test_a_picture_of_many_stories_is_cut_in_the_terminal_and_whole_as_svg() -> None:
    plan = plan_of([story(f"S{number}") for number in range(1, 60)])
    found = forecast(task(plan), STEADY, 8, 10)
    lines = list(page(task(plan), STEADY, [found], [], 0, "x").lines(80))
    assert any("more stories" in line.text for line in lines)
    rows = [line.text for line in lines if line.verbatim]
    assert len(rows) == 40
    assert max(map(len, rows)) <= 80
    assert svg(plan.stories, found).count("<text") == 59 + 2
