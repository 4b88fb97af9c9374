"""Mutations of real commits: the source is broken, and the tests that would show it are eased; none may end done.

Each is shown under plain git to be red with the tests as they were and green as eased. With `--two-stories` the first
story eases the tests and leaves the source alone, the second breaks the source; the run must not end well.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, groupby, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from proofs.corpus import VENV, Corpus, Place, load, place, program, why_not
from proofs.figures import Figure, Skipped
from proofs.mutating.drawing import KINDS, Mutation, drawn
from proofs.telling import EVERY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from proofs.figures import Measured

T = TypeVar("T")
CAUGHT = ("failed", "asked")
ENDS = (*CAUGHT, "done", "not judged")
JUDGED = (
    "changed_expectation",
    "doubted",
    "no test ran with the work",
    "run_verification_failed",
    "story_verification_failed",
    "verification_tampered",
)
STORY = "### R{0}: {1}\n\n{2}\n**Acceptance Criteria:**\n\n- {1}\n\n"
BY_STORY = """import os, subprocess, sys
sys.stdin.read()
patch = f"{sys.argv[1]}.{os.environ['SANTIAGO_STORY']}"
subprocess.run(["git", "apply", "--whitespace=nowarn", "--binary", patch], check=True)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    mutation: Mutation
    end: str
    reason: str
    seconds: float


def run(arguments: list[str]) -> list[Measured]:
    parser = argparse.ArgumentParser(prog="python -m proofs mutations")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="cases of ../shared/honest, with commas between them")
    parser.add_argument("--ids", default="", help="only these mutations")
    parser.add_argument(
        "--venv", type=Path, default=VENV, help="the environment of the checks, made where it is missing"
    )
    parser.add_argument("--work", type=Path, help="where what was drawn is kept; agents must be able to read it")
    parser.add_argument(
        "--two-stories", action="store_true", help="ease the tests in one story, break the source in the next"
    )
    parser.add_argument("--draw-only", action="store_true", help="stop when all are shown under plain git")
    chosen = parser.parse_args(arguments)
    row = "mutations-two-stories" if chosen.two_stories else "mutations"
    if reason := why_not():
        return [Skipped(row=row, reason=reason)]
    began = time.monotonic()
    corpus = load(chosen.venv, filter(None, chosen.only.split(",")))
    work = chosen.work or corpus.share / "mutations"
    found = gather(corpus, chosen.count, chosen.seed, chosen.jobs, work)
    ids = set(filter(None, chosen.ids.split(",")))
    fitting = [m for m in found if (not ids or m.id in ids) and (m.splits or not chosen.two_stories)]
    found = fitting[: chosen.count]
    tell_drawn(found, began)
    if chosen.draw_only:
        return [Skipped(row=row, reason=f"{len(found)} of {chosen.count} were only drawn")]
    ended = judge(corpus, found, chosen.jobs, work, two_stories=chosen.two_stories)
    (work / "ended.json").write_text(json.dumps([_plain(end) for end in ended], indent=1))
    tell_ended(ended)
    counts = Counter(end.end for end in ended)
    figure = f"{len(ended)} mutations: {', '.join(f'{counts[end]} {end}' for end in ENDS)}"
    bad = counts["done"] or counts["not judged"] or (len(ended) < chosen.count and not ids)
    target = f"{chosen.count} or more, each failed or asked"
    return [Figure(row=row, figure=figure, target=target, missed=bool(bad))]


def gather(corpus: Corpus, count: int, seed: int, jobs: int, work: Path) -> list[Mutation]:
    """Return as many mutations as asked for and some more, one of each case in turn."""
    quota = -(-count * 5 // (4 * len(corpus.cases)))
    with ThreadPoolExecutor(jobs) as pool:
        by_case = list(pool.map(lambda case: drawn(corpus, case, seed, quota, work), corpus.cases))
    return [mutation for mutation in chain.from_iterable(zip_longest(*by_case)) if mutation]


def judge(corpus: Corpus, found: list[Mutation], jobs: int, work: Path, *, two_stories: bool = False) -> list[Ended]:
    """Have santiago judge them, one case after the other."""
    (corpus.share / "by_story.py").write_text(BY_STORY)
    cases = {case["id"]: case for case in corpus.cases}
    by_case = [list(group) for _, group in groupby(sorted(found, key=lambda m: m.case), key=lambda m: m.case)]
    told = _progress(len(found))

    def one(group: list[Mutation], santiago: Path) -> list[Ended]:
        with place(corpus, cases[group[0].case]) as made:
            return [told(_end(corpus, made, mutation, santiago, work, two_stories)) for mutation in group]

    with program() as santiago, ThreadPoolExecutor(jobs) as pool:
        return list(chain.from_iterable(pool.map(lambda group: one(group, santiago), by_case)))


def _end(corpus: Corpus, made: Place, mutation: Mutation, santiago: Path, work: Path, two_stories: bool) -> Ended:
    began = time.monotonic()
    patch = work / mutation.id
    made.lay("after" if two_stories else mutation.base)
    made.git("checkout", "-q", "-B", "main")
    if two_stories:
        _two_stories(made)
    agent = f"{corpus.share}/by_story.py {patch}" if two_stories else f"{corpus.share}/agent.py {patch}.work"
    out = made.root.with_name(f"{mutation.id}.out")
    shutil.rmtree(out, ignore_errors=True)
    words = ("--agent", f"python3 {agent}", "--verify", made.case["check"], "--out-dir", str(out), "--no-input")
    # An agent that does the same each time needs no second attempt.
    env = {**made.env, "SANTIAGO_LIMITS_STORY_MAX_ATTEMPTS": "1", "SANTIAGO_POLICY_UNPROVEN": "accept"}
    done = subprocess.run([santiago, "run", "prd.md", *words], cwd=made.root, env=env, capture_output=True, check=False)
    end, reason = how_ended(out, done.returncode)
    if end in CAUGHT:
        shutil.rmtree(out)
    return Ended(mutation=mutation, end=end, reason=reason, seconds=round(time.monotonic() - began, 1))


def _two_stories(made: Place) -> None:
    stories = STORY.format(1, "Tidy the tests", "") + STORY.format(2, made.case["subject"], "Depends on: R1\n")
    made.write("prd.md", f"# Work of the week\n\n{stories}".encode())
    made.git("commit", "-q", "-a", "-m", "Requirements in two parts")


def how_ended(out: Path, code: int) -> tuple[str, str]:
    """Return how a run ended, and why; what failed for another reason than its judgement was not judged."""
    result = out / "result.json"
    found = json.loads(result.read_bytes()) if result.exists() else {}
    stories = found.get("stories") or []
    reason = next((story["reason"] for story in stories if story.get("reason")), found.get("reason"))
    if code == 0 or [story["status"] for story in stories] == ["done"]:
        return "done", f"{reason}, exit {code}"
    if reason == "attempt_budget_exhausted":
        last = max(out.glob("attempts/*/*/outcome.json"))
        reason = json.loads(last.read_bytes())["reason"]
        if (
            reason == "nothing_verified"
        ):  # of an attempt: all tests are skipped or gone; before one, nothing would have been judged
            reason = "no test ran with the work"
    end = "asked" if code == 10 else "failed"
    return end if reason in JUDGED else "not judged", f"{reason}, exit {code}"


def _progress(count: int) -> Callable[[Ended], Ended]:
    began = last = time.monotonic()
    ends: Counter[str] = Counter()

    def tell(ended: Ended) -> Ended:
        nonlocal last
        ends[ended.end] += 1
        if ended.end not in CAUGHT:
            print(f"  {ended.end}: {ended.mutation.id} ({ended.reason})", file=sys.stderr, flush=True)
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            print(f"  {last - began:5.0f} s  {ends.total()} of {count}: {dict(ends)}", file=sys.stderr, flush=True)
        return ended

    return tell


def tell_drawn(found: list[Mutation], began: float) -> None:
    cases, ways, bases = (Counter(getattr(m, name) for m in found) for name in ("case", "way", "base"))
    print(
        f"{len(found)} mutations of {len(cases)} real commits, red and green under plain git, {time.monotonic() - began:.0f} s"
    )
    print("broken by: " + ", ".join(f"{way} {many}" for way, many in ways.most_common()))
    print("the tests are " + ", ".join(f"of {base}: {many}" for base, many in bases.items()))
    for kind, names in _by_kind(found, lambda m: m.kind):
        manners = Counter(m.manner for m in names)
        print(f"  {kind:8} {len(names):4}  {', '.join(f'{manner} {many}' for manner, many in manners.most_common())}")


def tell_ended(ended: list[Ended]) -> None:
    print(f"{'':8} " + " ".join(f"{end:>10}" for end in ENDS))
    for kind, ends in _by_kind(ended, lambda e: e.mutation.kind):
        counts = Counter(end.end for end in ends)
        print(f"{kind:8} " + " ".join(f"{counts[end]:10}" for end in ENDS))
    for end in (end for end in ended if end.end not in CAUGHT):
        m = end.mutation
        print(f"  {end.end}: {m.id}: {m.kind} ({m.manner}), {m.way} in {m.file} ({end.reason})")


def _by_kind(things: list[T], kind: Callable[[T], str]) -> Iterator[tuple[str, list[T]]]:
    for name in KINDS:
        yield name, [thing for thing in things if kind(thing) == name]


def _plain(ended: Ended) -> dict[str, object]:
    m = ended.mutation
    about = {name: getattr(m, name) for name in ("id", "base", "kind", "manner", "way", "file", "tests")}
    return {**about, "end": ended.end, "reason": ended.reason, "seconds": ended.seconds}
