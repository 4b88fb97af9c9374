"""Replaying a log beside merely parsing its lines with the fastest JSON library, and how time and memory grow."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import Cost, python, verdict

from santiago.artifacts.frame import GENESIS, encode
from santiago.contract.events import Context, Event, EventKind
from santiago.contract.phases import RunPhase, StoryPhase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proofs.figures import Measured

EVENTS = 100_000
PER_STORY = 5

RATIO = """
import json, sys, time
from pathlib import Path
from pydantic_core import from_json
from santiago.artifacts.reader import read_log
from santiago.contract.fold import fold_all
from tests.contract.histories import plan_of
parsers = {'pydantic_core': from_json}
try:
    import orjson
    parsers['orjson'] = orjson.loads
except ImportError:
    pass
try:
    import msgspec
    parsers['msgspec'] = msgspec.json.Decoder().decode
except ImportError:
    pass
path, plan = Path(sys.argv[1]), plan_of(**{f'S{number}': '' for number in range(1, int(sys.argv[2]) + 1)})
lines = path.read_bytes().splitlines()
def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start
def parse(load):
    for line in lines:
        load(line)
best = {name: float('inf') for name in (*parsers, 'replay')}
for _ in range(15):
    for name, load in parsers.items():
        best[name] = min(best[name], seconds(lambda: parse(load)))
    best['replay'] = min(best['replay'], seconds(lambda: fold_all(plan, read_log(path))))
Path(sys.argv[3]).write_text(json.dumps(best))
"""
READ = """
import sys
from pathlib import Path
from santiago.artifacts.reader import read_log
assert sum(1 for _ in read_log(Path(sys.argv[1]))) == int(sys.argv[2])
"""


def run() -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        log, figures = Path(folder) / "progress.ndjson", Path(folder) / "figures.json"
        costs = [_read(log, count) for count in (EVENTS // 2, EVENTS * 2, EVENTS)]
        python(RATIO, str(log), str(EVENTS // PER_STORY), str(figures))
        best: dict[str, float] = json.loads(figures.read_text(encoding="utf-8"))
    replay = best.pop("replay")
    print(
        f"  {EVENTS:,} events: {', '.join(f'{name} {spent:.2f} s' for name, spent in best.items())}, replay {replay:.2f} s"
    )
    half, double, whole = costs
    times = [whole.seconds / half.seconds, double.seconds / whole.seconds]
    return [
        verdict("log-replay", replay / min(best.values()), 8),
        verdict("log-time", max(times), 2.3, among=times),
        verdict("log-memory", double.mebibytes / half.mebibytes, 1.1),
    ]


def _read(log: Path, count: int) -> Cost:
    with log.open("wb") as file:
        file.writelines(lines(count))
    cost = python(READ, str(log), str(count), times=3)
    print(
        f"  {count:>7,} events read: {cost.seconds:5.2f} s, {cost.mebibytes:4.0f} MiB, log {log.stat().st_size / 1e6:.0f} MB"
    )
    return cost


def lines(count: int) -> Iterator[bytes]:
    """Yield the lines of a log of so many events: stories that each take one attempt."""
    prev = GENESIS
    for seq, (kind, story, phase, context) in enumerate(_facts(count), start=1):
        event = Event(
            seq=seq,
            timestamp="2026-11-15T07:42:25.123Z",
            run_id="r_20261115_074225",
            event=kind,
            story_id=story,
            chunk="C01" if story or kind is EventKind.CHUNK_STARTED else None,
            phase=phase,
            attempt=1 if story else None,
            status="ok" if kind is EventKind.ATTEMPT_ENDED else None,
            context=context,
        )
        line, prev = encode(event, prev)
        yield line


def _facts(count: int) -> Iterator[tuple[EventKind, str | None, StoryPhase | RunPhase | None, Context]]:
    first = Context(plan_digest="0" * 64, input_digest="1" * 64, version="0.1.0", log=1)
    yield EventKind.RUN_CREATED, None, RunPhase.CREATED, first
    yield EventKind.RUN_STARTED, None, None, Context(epoch=1, pid=4711, host="here")
    yield EventKind.RUN_EXECUTING, None, RunPhase.EXECUTING, Context()
    yield EventKind.CHUNK_STARTED, None, None, Context()
    commit = "0123456789abcdef0123456789abcdef01234567"
    for number in range(count - 4):
        name = f"S{number // PER_STORY + 1}"
        ref = f"refs/santiago/r_20261115_074225/{name}/1"
        yield [
            (EventKind.ATTEMPT_STARTED, name, StoryPhase.RUNNING, Context(base=commit, step=f"attempt/{name}/1")),
            (
                EventKind.ATTEMPT_ENDED,
                name,
                StoryPhase.EVIDENCE_COLLECTED,
                Context(commit=commit, ref=ref, verdict="pass", proof="proved", agent_ms=61_000, verify_ms=2_300),
            ),
            (EventKind.STORY_VERIFIED, name, StoryPhase.VERIFIED, Context(commit=commit)),
            (EventKind.STORY_DONE, name, StoryPhase.DONE, Context(commit=commit, head=commit)),
            (EventKind.TIME_USED, None, None, Context(ms=15_000)),
        ][number % PER_STORY]
