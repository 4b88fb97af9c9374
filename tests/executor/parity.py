"""Random plans carried out for real, with one job and with eight: git, checks and the scripted agent with random delays."""

import subprocess
from pathlib import Path
from random import Random

from santiago.app.start.compose import execute
from santiago.app.start.request import Request
from santiago.contract.codec import sealed
from santiago.contract.phases import RunPhase
from santiago.contract.plan import Plan
from santiago.contract.policy import Agent, Limits, Policy, RunInput, Verification
from santiago.simulation.random_plans import random_plan

BESIDE = 'for one in not-beside/*; do test ! -e "done/${one##*/}" || exit 1; done'
Outcome = tuple[list[str], list[str], str]
"""Completions, commit subjects, tree."""


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for arguments in (["init", "-q", "-b", "main", "."], ["commit", "-q", "--allow-empty", "-m", "Begin"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=folder, check=True)
    return folder


def playbook(plan: Plan, random: Random) -> str:
    """Each story appends a line to its files, so that the order of stories shows in the tree; some fail at first, by themselves
    or only beside an earlier one."""
    lines, before = ["stories:"], list[str]()
    for story in plan.stories:
        files = [path if not path.endswith("/") else f"{path}{story.id}.txt" for path in story.files] or [
            "everything.txt"
        ]
        good = ", ".join(f'"{path}": "{story.id}\\n"' for path in files)
        delay = random.choice((0, 0, 0.01, 0.05))
        first = f'    - {{seconds: {delay}, write: {{"{story.id}.bad": "x"}}}}\n' if random.random() < 0.25 else ""
        if before and random.random() < 0.25:
            clash = f'"done/{story.id}": "yes", "not-beside/{random.choice(before)}": ""'
            first += f"    - {{seconds: {delay}, append: {{{good}}}, write: {{{clash}}}}}\n"
        before.append(story.id)
        lines.append(
            f'  {story.id}:\n{first}    - {{seconds: {delay}, append: {{{good}}}, write: {{"done/{story.id}": "yes"}}}}'
        )
    return "\n".join(lines) + "\n"


def carry_out(plan: Plan, seed: int, jobs: int, folder: Path) -> Outcome:
    """Carry a plan out and return what can be compared."""
    repo = repository(folder / f"repo{jobs}")
    (repo / "play.yaml").write_text(playbook(plan, Random(seed)))
    run_input = RunInput(
        contract_version=1,
        run_id=f"run{jobs}",
        repo_path=str(repo),
        prd_path="prd.md",
        limits=Limits(run_max_attempts=1000),
        verification=Verification(story_commands=('test -e "done/${SANTIAGO_STORY:-S1}"', BESIDE)),
        agent=Agent(mode="scripted", playbook="play.yaml"),
        policy=Policy(sandbox="off", unproven="accept"),
    )
    done: list[str] = []
    request = Request(
        out_dir=folder / f"out{jobs}",
        run_input=run_input,
        plan=plan,
        jobs=jobs,
        listeners=[lambda events, _: done.extend(e.story_id or "" for e in events if e.event == "story_done")],
    )
    state = execute(request)
    assert state.phase is RunPhase.SUCCESS, (seed, jobs, state.reason)

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=repo, check=True, capture_output=True, text=True).stdout

    branch = f"santiago/run{jobs}"
    return done, git("log", "--format=%s", branch).splitlines(), git("rev-parse", f"{branch}^{{tree}}").strip()


def compare(seed: int, folder: Path) -> None:
    plan = sealed(random_plan(Random(seed), most=6))
    serial, parallel = carry_out(plan, seed, 1, folder), carry_out(plan, seed, 8, folder)
    assert serial == parallel, seed
