"""The review of a planning session: the plan by chunk, one story in detail, what changed, the turns live, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from santiago.contract.errors import SantiagoError
from santiago.report.controls import controls_of
from santiago.report.following_session import FollowingSession
from santiago.report.session_pages import PAGES, page, uncovered
from santiago.tui.buttons import Button, Buttons
from santiago.tui.filtering import FilterLine
from santiago.tui.fitting import Fitting
from santiago.tui.look import TONES, cut, joined, shown
from santiago.tui.pane import Pane
from santiago.tui.plan_rows import PlanRows
from santiago.tui.review_keys import CONTROLS, REVIEW
from santiago.tui.reviewing import Reviewing
from santiago.util.text import count, flat, width

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from santiago.report.controls import Control
    from santiago.report.review import Review

SECONDS = 0.1
"""Seconds between two readings of the log."""
SLOW = 5
"""Every so many readings, also check what is not in the log: who works on the session, which answers wait, the time."""
LATER = 0.2
"""Seconds before changes are computed, so that something is shown first."""
NARROW = 72
"""Columns below which one pane is shown at a time."""
UNFOLDED = 12
"""A plan with at most this many stories is shown unfolded."""
_TONES = {
    "review": "good", "drafting": "busy", "interrupted": "warn", "cancelled review": "warn",
    "cancelled, no plan yet": "warn", "no plan yet": "bad",
}  # fmt: skip


class ReviewScreen(Reviewing, Fitting):
    """Shows one session. Actions here do the same as commands."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *((key.keys, key.action) for key in REVIEW if key.action),
        ("left_square_bracket", "revision(-1)"),
        ("right_square_bracket", "revision(1)"),
    ]
    needing, printing = "the review", "santiago review --plain"

    def __init__(self, folder: Path, *, plain: bool = False, revision: int | None = None) -> None:
        super().__init__()
        self.plain = plain
        self.following = FollowingSession(folder, compared=False)
        if revision is not None:
            self.following.show(revision)
        self.controls: frozenset[Control] = frozenset()
        self.page_shown = PAGES[0]
        self.told = ("", "")
        self._damage = ""
        self._ticks = 0

    def compose(self) -> ComposeResult:
        yield Static(id="head")
        with Horizontal(id="body"):
            yield PlanRows(plain=self.plain)
            with Vertical(id="side"):
                yield Buttons("pages", plain=self.plain, most=1)
                yield Pane(plain=self.plain)
        yield Static(id="asks")
        yield Static(id="preview")
        yield FilterLine()
        yield Buttons("actions", plain=self.plain, raised=True)
        yield Buttons("browse", plain=self.plain, most=1)
        yield Static(id="small")

    def on_mount(self) -> None:
        self.rows, self.pane = self.query_one(PlanRows), self.query_one(Pane)
        self.open(self.following)
        self.rows.focus()
        self.set_interval(SECONDS, self.tick)
        self.set_timer(LATER, self._compare)

    def _compare(self) -> None:
        """Compute the changes, after something is shown."""
        if not self.following.compared:
            self.following.compare()
            self.paint()

    def open(self, following: FollowingSession) -> None:
        """Show a session from its beginning."""
        self.following, self._damage, self.told = following, "", ("", "")
        self.rows.open, self.rows.cursor = set(), 0
        self.query_one(FilterLine).end()
        self.remove_class("reading")
        self.following.ask_run()
        self.page_shown = "turns" if following.review.state == "drafting" else "story"
        plan = following.review.plan
        if plan is not None and len(plan.stories) <= UNFOLDED:
            self.rows.open = set(range(1, len(plan.chunks) + 1))
        self.paint(anew=True)

    def on_screen_resume(self) -> None:
        """Come back from a run: read its state again."""
        if hasattr(self, "rows"):
            self.following.ask_run()
            self.paint()

    def on_resize(self) -> None:
        self.fit()
        self.set_class(self.size.width < NARROW, "narrow")
        self.paint()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tell whether an action is possible now. If not, it is hidden and its key does nothing."""
        if not super().check_action(action, parameters) or action not in CONTROLS:
            return super().check_action(action, parameters)
        return action in self.controls or (action in ("continue", "edit") and "plan_on" in self.controls)

    # Following

    def tick(self) -> None:
        """Take in what was recorded since the last look, and paint what has changed."""
        if not self.app.is_running:
            return
        self._ticks += 1
        late = self._ticks % SLOW == 0
        before = self.following.review
        grew = self._read(late=late)
        grew = self.look_after_start() or grew
        if grew:
            self._took_in(before)
        if grew or (late and self.following.review.worker):
            self.paint()

    def _read(self, *, late: bool) -> bool:
        if self._damage:
            return False
        try:
            grew = self.following.look()
            return (self.following.ask_worker() if late or grew else False) or grew
        except SantiagoError as error:
            self._damage = flat(error.message)
            return True

    def _took_in(self, before: Review) -> None:
        """Go to what is new: a turn that begins, the changes of a new revision, the run."""
        now = self.following.planning.state
        if now.turn is not None and len(now.turns) != len(before.turns):
            self.page_shown = "turns"
            self.say(f"turn {now.turn.number} is under way: {', '.join(map(flat, now.turn.agents))}", "busy")
        ended = len(before.turns) == len(now.turns) and before.turns and before.turns[-1].outcome == "under way"
        if ended and now.turns[-1].revision:
            self._show_new_revision()
        elif ended and now.turns[-1].ended:
            self.page_shown = "turns"
            self.say(
                f"turn {now.turns[-1].number} brought no plan: {now.turns[-1].message or now.turns[-1].reason}", "bad"
            )
        review = self.following.review
        if review.state != before.state and review.state == "finalized":
            self.following.ask_run()
            made = f"revision {review.revision} is final: "
            self.say(
                made + (f"{review.run}; r begins it" if review.run else review.output),
                "good",
            )
            self.begin_run()
        elif review.state != before.state and "cancelled" in review.state:
            self.say("cancelled; t takes it up again", "warn")

    def _show_new_revision(self) -> None:
        self.following.show(0)
        review, diff = self.following.review, self.following.review.diff
        self.page_shown = "story"
        if diff is None:
            self.say(f"revision {review.revision}", "good")
            if review.plan is not None and len(review.plan.stories) <= UNFOLDED:
                self.rows.open = set(range(1, len(review.chunks) + 1))
            return
        numbers = f"{len(diff.new)} new, {len(diff.changed)} changed, {len(diff.removed)} removed"
        self.say(f"revision {review.revision}: {numbers}; 2 shows everything", "good")
        first = next((one for one in review.chunks if one.changed), None)
        if first is not None:
            self.rows.open.add(first.number)
            self.rows.show(review)
            names = {one.id for one in first.stories} & set(review.marks)
            self.rows.cursor = next((at for at, row in enumerate(self.rows.rows) if row.story in names), 0)

    # Painting

    def paint(self, *, anew: bool = False) -> None:
        """Paint everything."""
        if not self.is_mounted or not hasattr(self, "rows"):
            return
        held = self.started is not None and self.started.ended() is None
        self.controls = frozenset() if held or self._damage else controls_of(self.following)
        self.rows.show(self.following.review)
        self._paint_head()
        self._paint_asks()
        self._paint_page(anew=anew)
        self._paint_preview()
        self._paint_buttons()

    def _put(self, name: str, text: Text) -> None:
        self.query_one(name, Static).update(text)

    def _paint_head(self) -> None:
        review, columns = self.following.review, max(10, self.size.width - 2)
        head = Text(no_wrap=True, overflow="ellipsis")
        word, tone = self._word()
        head.append(cut(review.session_id, columns - width(word) - 2), style=TONES["head"])
        head.append(f"  {word}", style=TONES[tone])
        room = columns - width(f"{review.session_id}  {word}") - 3
        counts = self._counts()
        first = joined(counts, room, " · ") if counts and room > width(counts[0]) else ""
        head.append(shown(f"   {first}", plain=self.plain))
        rest = [one for one in counts if one not in first]
        about = [*self._held(), *rest, review.spent, flat(review.title)]
        if self._damage:
            about = [f"damaged: {self._damage}"]
        line = shown(joined(about, columns, " · "), plain=self.plain)
        head.append("\n" + line, style=TONES["bad" if self._damage else "dim"])
        self._put("#head", head)

    def _word(self) -> tuple[str, str]:
        review, latest = self.following.review, self.following.planning.state.revision
        if review.run:
            return f"frozen rev {review.revision}" + (f" of {latest}" if self.following.earlier else ""), "busy"
        rev = f"rev {review.revision}" if review.revision else ""
        if self.following.earlier:
            return f"rev {review.revision} of {latest}, read-only", "warn"
        state = "answered" if self.following.waiting and not review.worker and self.started is None else review.state
        return f"{rev}  {state}".strip(), _TONES.get(state, "")

    def _counts(self) -> list[str]:
        plan = self.following.review.plan
        if plan is None:
            return []
        criteria, missing = sum(len(one.criteria) for one in plan.requirements), uncovered(plan)
        parts = [count(len(plan.stories), "story", "stories"), count(len(plan.chunks), "chunk")]
        return [*parts, count(criteria, "criterion", "criteria"), f"{missing} uncovered"]

    def _held(self) -> list[str]:
        review = self.following.review
        if review.run:
            return [f"{review.run} {self.following.ran}"]
        return [f"held by {flat(review.worker)}"] if review.worker else []

    def _paint_asks(self) -> None:
        asked = self.following.asked
        self.set_class(bool(asked), "asking")
        if asked:
            more = f" (and {len(asked) - 1} more)" if len(asked) > 1 else ""
            text = cut(f"? {asked[0].id} asks{more}, a answers: {flat(asked[0].text)}", self.size.width - 2)
            self._put("#asks", Text(shown(text, plain=self.plain), style=TONES["warn"]))

    def _paint_page(self, *, anew: bool = False) -> None:
        self.pane.show(page(self.following, self.page_shown, self.rows.chunk, self.rows.story), anew=anew)
        here = self.page_shown
        names = [(str(at), name, name == here) for at, name in enumerate(PAGES, 1)]
        buttons = [Button(key, f"[{name}]" if is_here else name, name, is_here) for key, name, is_here in names]
        self.query_one("#pages", Buttons).show(buttons)

    def _paint_preview(self) -> None:
        text, tone = self.told if self.told[0] else (self._advice(), "dim")
        self._put("#preview", Text(shown(text, plain=self.plain), style=TONES[tone]))

    def _advice(self) -> str:
        review = self.following.review
        if self.following.earlier:
            return "an earlier revision, read-only; ] goes on, esc goes to the latest"
        if "begin" in self.controls:
            return "the run is made and has not begun; r begins it, w looks at it"
        if review.run:
            return self.frozen
        if "more_turns" in self.controls:
            return "all turns are used; m allows more, f makes it final"
        if "finalize" in self.controls:
            return "f makes it final; c and e take one line of what should be different"
        if "take_up" in self.controls:
            return "nobody works on it; t takes it up"
        return f"{flat(review.worker)} works on it; this is read-only until it is done" if review.worker else ""

    def _paint_buttons(self) -> None:
        found = [Button(key.shown, key.label, key.action) for key in REVIEW if key.action in self.controls]
        if "plan_on" in self.controls:
            found.insert(0, Button("c", "Plan on", "continue"))
        self.query_one("#actions", Buttons).show(found)
        names = [key for key in REVIEW if key.label and key.action not in CONTROLS]
        names.sort(key=lambda key: key.action not in ("keys", "leave"))
        self.query_one("#browse", Buttons).show(
            [Button(key.shown, key.label, key.action or "revision(-1)") for key in names]
        )

    def say(self, text: str, tone: str = "") -> None:
        self.told = (flat(text), tone)
        self._paint_preview()

    # Browsing

    async def on_buttons_pressed(self, event: Buttons.Pressed) -> None:
        name = event.pressed
        await self.run_action(f"page('{name}')" if name in PAGES else name)

    def on_listing_moved(self) -> None:
        if self.page_shown != "story" and self.following.review.state != "drafting":
            self.page_shown = "story"
        self._paint_page(anew=True)

    def on_listing_clicked(self) -> None:
        if self.rows.story is None:
            self.action_enter()

    def action_enter(self) -> None:
        row = self.rows.current
        if row is None:
            return
        if row.story:
            self.add_class("reading")
            self.pane.focus()
        else:
            self.rows.action_fold(row.chunk in self.rows.open)
            self._paint_page(anew=True)

    def action_page(self, name: str) -> None:
        self.page_shown = name
        self.add_class("reading")
        self._paint_page(anew=True)

    def action_revision(self, by: int) -> None:
        """Look at the revision before, or the next one."""
        wanted, latest = self.following.review.revision + by, self.following.planning.state.revision
        if not 1 <= wanted <= latest:
            self.say(f"revision {self.following.review.revision} is the {'first' if by < 0 else 'latest'}")
            return
        try:
            self.following.show(wanted)
        except SantiagoError as error:
            self.say(error.message, "bad")
            return
        self.told = ("", "")
        self.paint(anew=True)

    def action_filter(self) -> None:
        self.remove_class("reading")
        self.query_one(FilterLine).begin()

    def action_back(self) -> None:
        reading = self.has_class("reading") or self.pane.has_focus
        self.remove_class("reading")
        self.rows.focus()
        if reading:
            return
        self.query_one(FilterLine).end()
        self.following.show(0)
        self.told = ("", "")
        self.paint(anew=True)
