"""Time that counts: a stopped process neither charges nor forgives."""

from santiago.util.clock import STOPPED_MS, WorkClock

HOUR = 3_600_000


class Fake:
    now = 1000

    def monotonic_ms(self) -> int:
        return self.now

    def utc(self) -> str:
        return "2026-01-02T03:04:05.000Z"


def passed(clock: WorkClock, fake: Fake, ms: int) -> int:
    """Return what the clock counts of a time."""
    before = clock.monotonic_ms()
    fake.now += ms
    return clock.monotonic_ms() - before


def test_time_counts_while_somebody_looks_and_not_while_the_process_is_stopped() -> None:
    fake = Fake()
    clock = WorkClock(fake, lambda since, until: 0)
    assert [passed(clock, fake, ms) for ms in (200, STOPPED_MS, 3 * HOUR, 200)] == [200, STOPPED_MS, 0, 200]


def test_programs_that_go_on_meanwhile_are_counted() -> None:
    fake = Fake()
    clock = WorkClock(fake, lambda since, until: min(until, since + 60_000) - since)
    assert [passed(clock, fake, ms) for ms in (3 * HOUR, 30_000, 2 * HOUR)] == [60_000, 30_000, 60_000]


def test_what_is_learnt_a_moment_later_is_counted_then_and_only_once() -> None:
    fake, worked = Fake(), 0
    clock = WorkClock(fake, lambda since, until: worked)
    assert passed(clock, fake, 3 * HOUR) == 0
    before, worked = fake.now - 3 * HOUR, HOUR
    assert clock.monotonic_ms() == before + HOUR
    assert [passed(clock, fake, 200) for _ in range(60)] == [200] * 60
    worked = 0
    assert passed(clock, fake, 200) == 200
    assert clock.utc() == fake.utc()
