"""Verified work is verified once more before its turn, on the state that is expected there. That verdict is used only if this state came."""

import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

from santiago.app.auditing import Audit
from santiago.app.start.compose import execute
from santiago.app.start.request import Request
from santiago.contract.events import Event, EventKind
from santiago.contract.phases import RunPhase
from santiago.contract.policy import Agent, Limits, Policy, RunInput, Verification
from santiago.contract.state import RunState
from santiago.contract.steps import Attempt, Integrate, Order, Step, VerifyAhead
from santiago.simulation.random_plans import plan_of, random_plan, story
from santiago.simulation.world import EventEngine, SimulatedPerformer, Simulation
from tests.executor.fleets import Fleet
from tests.executor.parity import repository
from tests.executor.test_time import KilledError

K = EventKind
NAMES = ["S1", "S2", "S3", "S4", "S5", "S6"]
LATER = "i=0; until [ {} ]; do i=$((i+1)); [ $i -lt 600 ] || exit 1; sleep 0.05; done"
"""A command that waits for something which must happen meanwhile."""


def carry_out(
    folder: Path, check: str, jobs: int, hear: Callable[[Sequence[Event]], None] = lambda _: None
) -> tuple[RunState, list[Event], str]:
    """Carry six stories out that write a file each; return the run's state, its log, and its tree."""
    repo, log = repository(folder / f"repo{jobs}"), list[Event]()
    (repo / "play.yaml").write_text("stories:\n" + "".join(f'  {n}: [{{write: {{"{n}.txt": "it"}}}}]\n' for n in NAMES))
    run_input = RunInput(
        contract_version=1, run_id=f"run{jobs}", repo_path=str(repo), prd_path="prd.md",
        verification=Verification(story_commands=(check,)), agent=Agent(mode="scripted", playbook="play.yaml"),
        policy=Policy(sandbox="off", unproven="accept"),
    )  # fmt: skip
    request = Request(
        out_dir=folder / f"out{jobs}", run_input=run_input, plan=plan_of([story(n, files=[f"{n}.txt"]) for n in NAMES]),
        jobs=jobs, listeners=[lambda events, _: log.extend(events), lambda events, _: hear(events)],
    )  # fmt: skip
    state = execute(request)
    assert state.phase is RunPhase.SUCCESS
    audit = Audit(request.out_dir)
    audit.run()
    assert audit.faults == []
    branch = f"santiago/run{jobs}^{{tree}}"
    return state, log, subprocess.run(["git", "rev-parse", branch], cwd=repo, capture_output=True, text=True).stdout


def of(log: list[Event], *kinds: EventKind) -> list[Event]:
    return [event for event in log if event.event in kinds]


def test_stories_behind_a_slow_check_are_verified_ahead_and_retire_without_another_one(tmp_path: Path) -> None:
    """The second check of S2 ends only when those of the four stories behind it have run. Each tree is checked once."""
    ran = tmp_path / "ran"
    ahead = LATER.format(f"$(sort -u {ran} | grep -c '^S1.txt S2.txt S') = 4")
    check = f'all=$(echo *.txt); if [ "$all" = "S1.txt S2.txt" ]; then {ahead}; fi; echo "$all" >>{ran}; ls S*.txt'
    _, log, tree = carry_out(tmp_path, check, jobs=6)
    verdicts = {event.story_id: event.context for event in of(log, K.AHEAD_VERIFIED)}
    done = {event.story_id: event.context for event in of(log, K.STORY_DONE)}
    assert verdicts.keys() - {"S2"} == {"S3", "S4", "S5", "S6"}
    for name, context in verdicts.items():
        assert (done[name]["step"], done[name]["digest"]) == (context["step"], context["digest"])
        assert done[name]["verify_ms"] == 0
    times = Counter(line for line in ran.read_text().splitlines() if line.startswith("S1.txt S2.txt"))
    assert set(times.values()) == {1}
    ran.unlink()
    _, serial, same = carry_out(tmp_path, f'echo "$(echo *.txt)" >>{ran}; ls S*.txt', jobs=1)
    assert of(serial, K.AHEAD_VERIFIED) == []
    assert (list(done), tree) == ([event.story_id for event in of(serial, K.STORY_DONE)], same)


def test_a_red_verdict_ahead_decides_nothing_and_nothing_behind_it_is_verified(tmp_path: Path) -> None:
    """The check of S4 fails before its turn and passes then. It costs no attempt, and its time is the run's."""
    known = tmp_path / "known"

    def hear(events: Sequence[Event]) -> None:
        if any((event.event, event.story_id) == (K.AHEAD_VERIFIED, "S4") for event in events):
            known.touch()

    check = (
        f'case "$(echo *.txt)" in "S1.txt S2.txt") {LATER.format(f"-e {known}")};; "S1.txt S2.txt S3.txt S4.txt") test -e {known};; esac'
        " && ls S*.txt"
    )
    state, log, _ = carry_out(tmp_path, check, jobs=6, hear=hear)
    told = [(event.event, event.story_id, event.status) for event in of(log, K.AHEAD_VERIFIED, K.STORY_DONE)]
    red = told.index((K.AHEAD_VERIFIED, "S4", "failed"))
    turn = told.index((K.STORY_DONE, "S4", "ok"))
    assert not [one for one in told[red:turn] if one[0] is K.AHEAD_VERIFIED and one[1] in ("S5", "S6")]
    one, (ended,) = state.stories["S4"], [event for event in of(log, K.ATTEMPT_ENDED) if event.story_id == "S4"]
    assert (one.attempts, one.conflicts, one.uncounted) == (1, 0, 0)
    assert one.used_ms == ended.context["agent_ms"] + ended.context["verify_ms"]


def simulated(seed: int, jobs: int) -> Simulation:
    """Return a random run in which works do not fit the branch, or fail beside others; trees decide which."""
    random = Random(seed)
    plan = random_plan(random)
    conflicts = {one.id: 1 for one in plan.stories if random.random() < 0.15}
    performer = SimulatedPerformer(
        conflicts=conflicts if jobs > 1 else {},
        second=lambda story, after: Random(f"{seed}{story}{after}").random() < 0.8,
    )
    took: dict[str, int] = {}

    def duration(step: Step) -> int:
        return took.setdefault(step.id, random.randint(1, 5000 if isinstance(step, Attempt) else 1500))

    return Simulation(plan, jobs=jobs, duration=duration, performer=performer, limits=Limits(story_max_attempts=99))


def test_with_verdicts_ahead_a_run_ends_as_with_one_job_and_no_red_tree_comes_onto_the_branch() -> None:
    """Promises 2 and 7, over 200 plans with conflicts and red second verdicts. With one job nothing is verified ahead."""
    used = red = 0
    for seed in range(200):
        serial, parallel = simulated(seed, 1), simulated(seed, 8)
        for run in (serial, parallel):
            assert run.run().phase is RunPhase.SUCCESS
        assert serial.done() == parallel.done() == [one.id for one in serial.plan.stories]
        assert serial.of(K.AHEAD_VERIFIED) == []
        ahead = {event.context["step"]: event for event in parallel.of(K.AHEAD_VERIFIED)}
        by = [ahead[step] for event in parallel.of(K.STORY_DONE) if (step := event.context.get("step"))]
        assert all(event.status == "ok" for event in by)
        used, red = used + len(by), red + sum(event.status == "failed" for event in ahead.values())
        spent = [e.context.get("step", "") for e in parallel.of(K.ATTEMPT_VOIDED, K.INTEGRATION_FAILED)]
        assert not [step for step in spent if step.startswith("ahead")]
    assert min(used, red) > 100


def test_a_fleet_is_not_held_up_by_integrations_one_by_one() -> None:
    assert Fleet(300, 64).hours() < 1.9
    assert Fleet(300, 16).hours() < 4.8


def test_work_that_is_red_beside_that_of_others_costs_a_fleet_little_more_than_its_next_attempts() -> None:
    """One in ten is. No more than two verifications of a story."""
    fleet = Fleet(300, 16, seed=3, reds=0.1)
    assert fleet.hours() < 1.3 * Fleet(300, 16, seed=3, reds=0.1, check_ms=0).hours()
    assert fleet.verified <= 2 * 300


@pytest.mark.parametrize("places", [0, 1, 2])
def test_where_workers_judge_no_more_is_verified_ahead_than_they_have_places(places: int) -> None:
    """Agents have places of their own there: a verdict ahead takes none of them."""
    at_once = list[int]()

    class Judges(EventEngine):
        def judging(self) -> int:
            return places - sum(isinstance(order.step, VerifyAhead) for _, _, order in self.heap)

        def submit(self, order: Order) -> None:
            super().submit(order)
            at_once.append(places - self.judging())

    def duration(step: Step) -> int:
        return 60_000 if isinstance(step, Integrate | VerifyAhead) else 1000

    run = Simulation(plan_of([story(name) for name in NAMES]), jobs=6, duration=duration, engine_of=Judges)
    assert run.run().phase is RunPhase.SUCCESS
    assert max(at_once) == places


def test_what_a_crash_leaves_of_verdicts_ahead_is_used_at_the_turn_if_it_still_fits() -> None:
    """The coordinator dies when the check of S2 is over. Those behind it were verified meanwhile, and are not again."""

    def duration(step: Step) -> int:
        return 60_000 if isinstance(step, Integrate | VerifyAhead) and step.story == "S2" else 1000

    def heard(state: RunState, now: int) -> None:
        if len(run.of(K.AHEAD_VERIFIED)) >= 4 and "S3" in state.verified:
            raise KilledError

    run = Simulation(plan_of([story(name) for name in NAMES]), jobs=6, duration=duration, heard=heard)
    with pytest.raises(KilledError):
        run.run()
    given = {event.story_id: event.context["step"] for event in run.of(K.AHEAD_VERIFIED)}
    assert given.keys() - {"S2"} == {"S3", "S4", "S5", "S6"}
    run.heard = lambda state, now: None
    assert run.run().phase is RunPhase.SUCCESS
    assert len(run.of(K.AHEAD_VERIFIED)) == len(given)
    assert {e.story_id: e.context["step"] for e in run.of(K.STORY_DONE) if "step" in e.context} == given


def test_a_verdict_for_a_state_that_did_not_come_is_not_used() -> None:
    """S3 passes ahead on the first work of S2, which is red at its turn. Beside the second work of S2, S3 is red.

    At that turn long attempts take all other places, so that nothing was verified ahead once more.
    """
    red = (("S1/1", "S2/1"), ("S1/1", "S2/2", "S3/1"))

    def fits(_: str, after: int) -> bool:
        return after not in [run.performer.tree(("head0", *works)) for works in red]

    def duration(step: Step) -> int:
        if isinstance(step, Attempt) and step.story in NAMES[3:]:
            return 1_000_000
        is_red = isinstance(step, Integrate | VerifyAhead) and (step.story, step.attempt) == ("S2", 1)
        return 60_000 if is_red else 1000

    run = Simulation(plan_of([story(name) for name in NAMES]), jobs=4, duration=duration)
    run.performer.second = fits
    state = run.run()
    assert state.phase is RunPhase.SUCCESS
    ahead = [(event.story_id, event.attempt, event.status) for event in run.of(K.AHEAD_VERIFIED)]
    assert [one for one in ahead if one[:2] == ("S3", 1)] == [("S3", 1, "ok")]
    assert [state.stories[name].attempts for name in NAMES[:3]] == [1, 2, 2]
