"""A loop over a board that is killed whenever it or one of its runs records something: nothing is lost and nothing done twice."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.board.desk import REQUEST, SETTINGS
from tests.cli import greeter
from tests.crash.world import memory_folder

from proofs.crash.nursery import Nursery, Order, Report, When
from proofs.crash.sweeps import Death, Tally
from santiago.app.loading import load
from santiago.board.board_handle import open_board
from santiago.contract.board import BoardEvent

WHENS: tuple[When, ...] = ("uncommitted", "committed")
STARTS = 6
"""Loops after which everything must be done, however the first one died."""
STORIES = ("S1", "S2", "S3")
PRD = greeter.PRD.replace("`bye.txt`", "`bye.py`").replace("grep goodbye bye.txt", "grep goodbye prd.md")
PLAYBOOK = greeter.GOOD.replace('{bye.txt: "goodbye\\n"}', '{bye.py: "x = 1\\n"}\n    - write: {bye.py: "x = 2\\n"}')
"""No test shows what is done for the second story."""


class Boarded:
    """A repository with one request of three stories on its board. No test shows the second, so a person takes it."""

    def __init__(self, nursery: Nursery, top: Path) -> None:
        self.nursery, self.top, self.repo = nursery, top, top / "repo"

    def kinds(self) -> dict[str, int]:
        """Return what is recorded, and how often, in a loop that nobody disturbs."""
        self._reset()
        kinds: dict[str, int] = {}
        for code in (10, 0):
            report = self._loop(Death("committed", 0))
            assert report.code == code, report.words
            kinds |= {kind: number for kind, number in report.kinds.items() if kind not in kinds}
            self._take_unproven()
        return kinds

    def episode(self, *deaths: Death) -> Tally:
        """Come through with these deaths."""
        self._reset()
        tally, told = Tally(), ", ".join(map(str, deaths))
        for death in (*deaths, *[Death("", 0)] * STARTS):
            report = self._loop(death)
            if report.code == 10 and self._take_unproven():
                report = self._loop(death)
            tally.deaths += report.code == 137
            if report.code != 137:
                break
        if report.code != 0:
            tally.violations.append(f"{told}: the loop ended with {report.code}: {report.words[-500:]}")
        tally.violations += [f"{told}: {wrong}" for wrong in self._wrong()]
        return tally

    def _take_unproven(self) -> bool:
        """Answer what the loop asks a person; return whether it asked."""
        asked = [
            one.id
            for one in load(self.repo / ".santiago" / "runs" / "REQ").state.open_questions()
            if one.kind == "unproven"
        ]
        for name in asked:
            words = ["answer", "REQ", name, "accept", "--actor", "ann"]
            done = self.nursery._give(Order(top=str(self.top), arguments=words, folder=str(self.repo)))
            assert done.code == 0, done.words
        return bool(asked)

    def _loop(self, death: Death) -> Report:
        words = ["loop", "--trust-commands", "--trust-project", "--no-input"]
        order = Order(
            top=str(self.top), arguments=words, folder=str(self.repo), when=death.when, at=death.at, kind=death.kind
        )
        return self.nursery._give(order)

    def _reset(self) -> None:
        shutil.rmtree(self.repo, ignore_errors=True)
        shutil.rmtree(self.top / "cache", ignore_errors=True)
        greeter.committed(self.repo, {"prd.md": PRD, "playbook.yaml": PLAYBOOK, "santiago.toml": SETTINGS})
        done = self.nursery._give(Order(top=str(self.top), arguments=list(REQUEST), folder=str(self.repo)))
        assert done.code == 0, done.words

    def _wrong(self) -> Iterator[str]:
        run = load(self.repo / ".santiago" / "runs" / "REQ")
        with open_board(self.repo, {}) as opened, opened.store.reading() as at:
            if (counts := at.counts()) != {"done": 4}:
                yield f"tickets: {counts}"
            for name in ("REQ", *(f"REQ.{one}" for one in STORIES)):
                events = list(at.events(ticket=name))
                kinds = Counter(one.event for one in events)
                card = at.card(name)
                if card is None:
                    yield f"there is no ticket {name}"
                    continue
                if kinds[BoardEvent.TICKET_DONE] != 1:
                    yield f"{name} was done {kinds[BoardEvent.TICKET_DONE]} times"
                if kinds[BoardEvent.TICKET_CLAIMED] != card.attempt_count:
                    yield f"{name} counts {card.attempt_count} of {kinds[BoardEvent.TICKET_CLAIMED]} claims"
                if card.story and run.state.stories[card.story].counted > card.attempt_count:
                    yield f"{name}: the run counts more attempts than there were claims"
        if len(list((self.repo / ".santiago" / "runs").iterdir())) != 1:
            yield "there is more than one run"
        audit = self.nursery._give(Order(top=str(self.top), arguments=["audit", str(run.out_dir)]))
        if audit.code:
            yield f"audit: {audit.words[-300:]}"


@contextmanager
def boarded() -> Iterator[Boarded]:
    """Make a place to work and die in."""
    top = Path(tempfile.mkdtemp(dir=memory_folder()))
    try:
        with Nursery({"USER": "ann", "SANTIAGO_POLICY_UNPROVEN": "ask"}) as nursery:
            yield Boarded(nursery, top)
    finally:
        shutil.rmtree(top, ignore_errors=True)
