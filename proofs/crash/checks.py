"""The checkers: what must be true of a world after any crash, and after the run was resumed to its end."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.crash.world import BRANCH, RUN, World, git

from santiago.artifacts.reader import Reader
from santiago.contract.errors import SantiagoError
from santiago.executor.recover import MOST_ADOPTIONS

ENDS = frozenset({"attempt_ended", "attempt_voided"})


@dataclass(frozen=True)
class Finish:
    """What a run came to, as far as a crash must not change it."""

    tree: str
    done: tuple[str, ...]
    subjects: tuple[str, ...]


def events_of(world: World) -> list[dict[str, Any]]:
    """Return the whole lines of the log."""
    if not world.log.exists():
        return []
    return [json.loads(line) for line in world.log.read_bytes().split(b"\n")[:-1]]


def finish_of(world: World) -> Finish:
    done = tuple(event["story_id"] for event in events_of(world) if event["event"] == "story_done")
    subjects = tuple(git(world.repo, "log", "--format=%s", BRANCH).splitlines())
    return Finish(git(world.repo, "rev-parse", f"{BRANCH}^{{tree}}"), done, subjects)


def after_death(world: World, acknowledged: int = 0) -> list[str]:
    """Return what is wrong right after a death, before anybody repairs anything."""
    found = []
    raw = world.log.read_bytes() if world.log.exists() else b""
    whole = raw[: raw.rfind(b"\n") + 1]
    if not whole.startswith(world.lines):
        found.append("a recorded line was changed or lost")
    world.lines = whole
    lines = whole.count(b"\n")
    if lines < acknowledged:
        found.append(f"{acknowledged} events were acknowledged and {lines} are there")
    found += _chain(world) + _done_work(world)
    result = world.out / "result.json"
    if result.exists():
        try:
            json.loads(result.read_bytes())
        except ValueError:
            found.append("result.json is torn")
    return found


def _chain(world: World) -> list[str]:
    if not world.log.exists():
        return []
    try:
        for _ in Reader(world.log):
            pass
    except SantiagoError as error:
        return [f"the log does not read: {error.message}"]
    return []


def _done_work(world: World) -> list[str]:
    """A story that is recorded as done has its work on the branch and its evidence on disk."""
    try:
        events = events_of(world)
    except ValueError:
        return ["the log holds a line that is no JSON"]
    done = [event for event in events if event["event"] == "story_done"]
    if not done:
        return []
    branch = git(world.repo, "rev-list", BRANCH, check=False).split()
    found = [f"{e['story_id']} is done, but not on the branch" for e in done if e["context"]["head"] not in branch]
    return found + list(_evidence(world, events))


def _evidence(world: World, events: list[dict[str, Any]]) -> Iterator[str]:
    for event in events:
        digest = event["context"].get("digest")
        if event["event"] == "attempt_ended" and digest:
            path = world.out / "attempts" / event["story_id"] / str(event["attempt"]) / "verification.json"
            if not path.exists() or sha256(path.read_bytes()).hexdigest() != digest:
                yield f"the evidence of {event['story_id']} {event['attempt']} is not what was recorded"


def after_all(world: World, reference: Finish, *, kills: int, jobs: int) -> list[str]:
    """Return what is wrong with a run that was interrupted and resumed to its end."""
    found = after_death(world)
    try:
        events = events_of(world)
    except ValueError:
        return found
    found += [*_attempts(world, events, kills * jobs), *_kept(world, events), *_left(world)]
    if finish_of(world) != reference:
        found.append(f"the run came to {finish_of(world)}, undisturbed to {reference}")
    return found + _result(world, events)


def _attempts(world: World, events: list[dict[str, Any]], most: int) -> Iterator[str]:
    """Every attempt begins once and ends once, none after its story was done, and only a death interrupts one."""
    begun: Counter[str] = Counter()
    open_attempts: dict[tuple[str, int], int] = {}
    """Each with the number of starts before it."""
    done: set[str] = set()
    interrupted = starts = 0
    for event in events:
        story, attempt = event["story_id"], event["attempt"]
        starts += event["event"] == "run_started"
        if event["event"] == "attempt_started":
            begun[story] += 1
            open_attempts[story, attempt] = starts
            if story in done:
                yield f"{story} was attempted again after it was done"
            if attempt != begun[story]:
                yield f"attempt {begun[story]} of {story} has the number {attempt}"
        elif event["event"] in ENDS and (story, attempt) in open_attempts:
            tried = starts - open_attempts.pop((story, attempt))
            if event["context"].get("reason") == "interrupted":
                interrupted += 1
                yield from _wrongly_ended(world, event, tried)
        elif event["event"] == "attempt_ended":
            yield f"{story} {attempt} ended twice"
        elif event["event"] == "story_done":
            if story in done:
                yield f"{story} was done twice"
            done.add(story)
    yield from (f"{story} {attempt} never ended" for story, attempt in open_attempts)
    if interrupted > most:
        yield f"{interrupted} attempts were interrupted by deaths that can have hit {most}"


def _wrongly_ended(world: World, event: dict[str, Any], tried: int) -> Iterator[str]:
    story, attempt = event["story_id"], event["attempt"]
    asked = (world.out / "attempts" / story / str(attempt) / "prompt.md").exists()
    if asked != (event["event"] == "attempt_ended"):
        yield f"{story} {attempt} counts although its agent was never started, or does not although it was"
    if _had_ended(world, story, attempt, tried):
        yield f"{story} {attempt} was thrown away although its agent had ended and its work was kept"


def _had_ended(world: World, story: str, attempt: int, tried: int) -> bool:
    """Tell whether an attempt was to be judged, by starts of which only so many may try."""
    ending = world.out / "attempts" / story / str(attempt) / "ending.json"
    try:
        ended = json.loads(ending.read_bytes())["reason"] is None
    except (OSError, ValueError):
        return False
    ref = f"refs/santiago/{RUN}/{story}/{attempt}"
    return tried < MOST_ADOPTIONS and ended and bool(git(world.repo, "rev-parse", "-q", "--verify", ref, check=False))


def _kept(world: World, events: list[dict[str, Any]]) -> list[str]:
    """Every commit that the log names can be reached from a ref, and the branch stands where the log says."""
    reachable = set(git(world.repo, "rev-list", "--all").split())
    commits = {event["context"][key] for event in events for key in ("commit", "head") if key in event["context"]}
    found = [f"the commit {commit} of the log cannot be reached" for commit in commits - reachable]
    heads = [event["context"]["head"] for event in events if "head" in event["context"]]
    if heads and git(world.repo, "rev-parse", BRANCH) != heads[-1]:
        found.append("the branch does not stand where the log says")
    if git(world.repo, "fsck", "--connectivity-only", "--no-dangling", check=False).strip():
        found.append("git fsck complains")
    return found


def _left(world: World) -> list[str]:
    """Nothing unfinished is left lying about, and nothing is left running."""
    names = [str(path) for path in world.out.rglob(".*.tmp")]
    names += [str(path) for path in (world.repo / ".git").rglob("*.lock")]
    cache = world.top / "cache"
    names += [str(path) for kind in ("work", "own", "clean", "trash", "tmp") for path in cache.glob(f"*/*/*/{kind}/*")]
    names += [str(path) for path in cache.glob("*/*/tmp-*")]
    found = [f"left behind: {name}" for name in names[:5]]
    return found + [f"still running: {pid}" for pid in _running(world)]


def _running(world: World) -> Iterator[str]:
    marker = f"SANTIAGO_PLAN_DIR={world.out / 'tasks'}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if int(entry.name) != os.getpid() and marker in (entry / "environ").read_bytes().split(b"\0"):
                yield entry.name
        except OSError:
            continue


def _result(world: World, events: list[dict[str, Any]]) -> list[str]:
    """result.json is there and says what the log says."""
    try:
        result = json.loads((world.out / "result.json").read_bytes())
    except (OSError, ValueError) as error:
        return [f"result.json: {error}"]
    found = []
    if (result["head"]["seq"], result["head"]["hash"]) != (events[-1]["seq"], events[-1]["h"]):
        found.append("result.json does not name the last event")
    # A substep's attempts are its story's: `S1.2` counts for `S1`.
    started = Counter(event["story_id"].split(".")[0] for event in events if event["event"] == "attempt_started")
    voided = Counter(event["story_id"].split(".")[0] for event in events if event["event"] == "attempt_voided")
    counts = {story["id"]: story["attempts"] for story in result["stories"]}
    if counts != {name: started[name] - voided[name] for name in counts}:
        found.append(f"result.json counts the attempts {counts}, the log {started} less {voided}")
    if result["usage"]["attempts"] != sum(counts.values()):
        found.append("result.json's total of attempts is not their sum")
    done = {event["story_id"]: event["context"]["commit"] for event in events if event["event"] == "story_done"}
    whole = {story: commit for story, commit in done.items() if "." not in story}
    if result["status"] != "success" or {s["id"]: s["commit"] for s in result["stories"]} != whole:
        found.append("result.json does not tell the stories and commits of the log")
    return found
