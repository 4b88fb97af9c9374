"""What the suite asks of santiago beside sweeps of deaths; each probe returns what is wrong, and the planted bugs try them."""

import shutil
from collections.abc import Iterable

from proofs.crash.checks import after_all, after_death, events_of
from proofs.crash.sweeps import Death, Place


def deaths(place: Place, episodes: Iterable[Death]) -> list[str]:
    """Die once at each of these."""
    return [what for death in episodes for what in place.episode((death,)).violations]


def order_of_syncs(place: Place) -> list[str]:
    """Run undisturbed, watched."""
    place.world.reset()
    report = place.start(Death("watch", 0))
    return report.findings if report.code == 0 else [f"ended with {report.code}: {report.words}"]


def failing_syncs(place: Place, numbers: Iterable[int]) -> list[str]:
    """A sync of the log that fails ends the run, said so; the same command then finishes it."""
    found = []
    for number in numbers:
        place.world.reset()
        report = place.start(Death("eio", number))
        if report.code != 20:
            found.append(f"sync {number} failed, and the run ended with {report.code}")
        found += after_death(place.world, report.acknowledged)
        if place.start(None).code == 0:
            found += after_all(place.world, place.reference, kills=1, jobs=place.jobs)
        else:
            found.append(f"after sync {number} had failed, the run cannot be continued")
    return found


def damaged_lines(place: Place, positions: Iterable[float]) -> list[str]:
    """A log that is damaged before its end is refused, and not one byte of it changes."""
    place.world.reset()
    place.start(Death("before", place.effects // 2))
    whole, found = place.world.log.read_bytes(), []
    for position in positions:
        damaged = bytearray(whole)
        damaged[int(position * (len(whole) - 800))] ^= 4
        place.world.log.write_bytes(damaged)
        report = place.start(Death("after", 20))  # so that one that is accepted ends soon
        if report.code != 10:
            found.append(f"a damaged log was accepted: {report.code}")
        if place.world.log.read_bytes() != bytes(damaged):
            found.append("a damaged log was changed")
    return found


def rubbish(place: Place) -> list[str]:
    """Unfinished files of an earlier death are gone after the next start."""
    place.world.reset()
    place.start(Death("before", place.effects // 2))
    for folder in ("", "attempts/S1", "planning"):
        (place.world.out / folder / ".left.json.tmp").write_bytes(b"{")
    if place.start(None).code != 0:
        return ["the run cannot be continued"]
    return after_all(place.world, place.reference, kills=1, jobs=place.jobs)


def rubbish_after_success(place: Place) -> list[str]:
    """Folders that were still being removed when a run died that had succeeded are gone after the next start."""
    place.world.reset()
    place.start(None)
    for run in (place.world.top / "cache").glob("*/*/*/"):
        (run / "trash" / "half" / "removed").mkdir(parents=True)
    if place.start(None).code != 0:
        return ["the run cannot be looked at again"]
    return after_all(place.world, place.reference, kills=0, jobs=place.jobs)


def work_that_may_be_cut(place: Place, kinds: Iterable[str] = ()) -> list[str]:
    """What an agent left and nobody synced before the machine went down is kept, and never judged, however often it dies.

    The next start dies after the first effect of each of these kinds, or of all until the attempt has ended.
    """
    world, ended = place.world, "attempt_ended"
    world.reset()
    assert place.start(Death("before", 1, kind="snapshot")).code == 137
    for note in world.top.glob("cache/**/own/*/boot"):
        note.write_text("another start of the machine", encoding="utf-8")
    first, saved, found = world.template, world.top.with_name("cut"), []
    shutil.copytree(world.top, saved, symlinks=True)
    world.template = saved
    end = Death("after", 1, kind=f"append {ended}")
    world.reset()
    for kind in kinds or place.start(end).kinds:
        world.reset()
        where = place.start(Death("after", 1, kind=kind)).where
        place.start(end)
        told = next(event for event in events_of(world) if event["event"] == ended)
        if told["context"].get("reason") != "interrupted" or not told["context"].get("commit"):
            found.append(f"after a death at {where}: {told['status']} {told['context']}")
    world.template = first
    return found
