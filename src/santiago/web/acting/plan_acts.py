"""What people do with a plan that is not final. Their word is left as on the command line and the screen, and a process carries it out."""

from __future__ import annotations

from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from santiago.app.detached import Detached
from santiago.app.planning import session_word
from santiago.app.planning.planning_sessions import load_session, session_here
from santiago.contract.errors import Kind, SantiagoError
from santiago.report.consents import unfenced
from santiago.report.following_session import FollowingSession, controls_of
from santiago.report.page import Line
from santiago.report.session_pages import finalize_page
from santiago.util.text import flat, harmless
from santiago.web.acting.step import AGREE, Field, Form, Step, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from santiago.contract.policy import Agent
    from santiago.report.following_session import Control
    from santiago.web.acting.acts import Acts

MOST_TURNS = 1000
FINALIZE = "finalize"
"""What a person types who approves a plan and its commands."""
CARRY_OUT = "carry it out"
_CONTROLS: dict[str, Control] = {
    "plan-answer": "answer", "plan-continue": "continue", "plan-edit": "edit", "plan-finalize": "finalize", "plan-cancel": "cancel",
    "plan-take-up": "take_up", "plan-turns": "more_turns",
}  # fmt: skip


def forms(following: FollowingSession) -> list[Form]:
    """Return what can be asked for now."""
    review, controls = following.review, controls_of(following)
    base = f"santiago review {review.session_id}"
    agents = [flat(one.label) for one in following.planning.asked.drafters]
    different = (Field(f"What should be different in revision {review.revision}?"),)
    finals: tuple[tuple[str, str], ...] = (
        (CARRY_OUT, "it becomes a run, which begins at once"),
        ("start nothing", "it becomes a run, which you begin when you want"),
    )
    if review.artifact == "document":
        finals = (("write it", f"it becomes the file {flat(review.output)}"),)
    form = partial(Form, about={"session": review.session_id, "revision": str(review.revision)})
    offered: dict[Control, Form] = {
        "take_up": form(act="plan-take-up", button="Take it up", look="main", key="t", command=f"{base} --take-up"),
        "cancel": form(act="plan-cancel", button="Cancel the turn" if review.state == "drafting" else "Cancel", key="x", command=f"{base} --cancel"),
        "continue": form(
            act="plan-continue", title="Continue planning", told=(f"Another turn of {', '.join(agents)}.",), fields=different, key="c",
            command=f'{base} --continue "…"',
        ),
        "edit": form(
            act="plan-edit", title="Quick edit", told=(f"A turn of {agents[0]}.",), fields=different, key="e", command=f'{base} --edit "…"'
        ),
        "more_turns": form(
            act="plan-turns", title="Allow more turns", told=(f"Used: {review.spent}",), fields=(Field("How many more", "turns", "number"),),
            key="m", command=f"{base} --add-turns N",
        ),
        "finalize": form(
            act="plan-finalize", title="Make it final", words=finals, key="f", command=f"{base} --finalize --revision {review.revision}"
        ),
    }  # fmt: skip
    asks = [
        form(
            act="plan-answer", title=f"Answer {one.id}", told=tuple(harmless(one.text).splitlines()), fields=(Field("Your answer"),), key="a",
            command=f'santiago answer {review.session_id} {one.id} "…"',
        )
        for one in following.asked[:1]  # one after the other
    ]  # fmt: skip
    return [*asks, *(one for control, one in offered.items() if control in controls)]


def understand(form: Mapping[str, str], acts: Acts) -> Step:
    """Return what a form about a plan asks for; raise where that is not offered now."""
    following, act = FollowingSession(session_here(form.get("session", "")), compared=False), form.get("act", "")
    if _CONTROLS.get(act) not in controls_of(following):
        message = f"{following.review.session_id} is in the state `{following.review.state}`, where that cannot be done"
        raise SantiagoError(Kind.INPUT, message, hint="Look at its page again: it shows what can be done now.")
    if form.get("revision") != str(following.review.revision):
        message = f"revision {following.review.revision} has replaced the one that you looked at"
        raise SantiagoError(Kind.INPUT, message, hint="Look at what it changed first.")
    return _Word(following, form, acts).step(act)


class _Word:
    """One word of a person to a plan."""

    def __init__(self, following: FollowingSession, form: Mapping[str, str], acts: Acts) -> None:
        self.following, self.form, self.acts = following, form, acts
        self.planning, self.name = following.planning, following.review.session_id
        self.base = f"santiago review {self.name}"
        self.consents: list[str] = []
        """The options of a command line that say what its person agrees to."""

    def step(self, act: str) -> Step:
        match act:
            case "plan-continue" | "plan-edit":
                return self._plan_on("adjust" if act == "plan-continue" else "edit", act.removeprefix("plan-"))
            case "plan-finalize":
                return self._finalize()
            case "plan-cancel":
                told = "Nothing is carried out. The plan is kept, with all its revisions and what was said; it can be taken up again."
                return self._made("Cancel {}?", [Line(told)], " --cancel", self._cancel)
            case "plan-take-up":
                return self._made(
                    "Take {} up?", [], " --take-up", lambda: self._taken_up(["--take-up"]), self._drafters
                )
            case "plan-turns":
                number = int(number_of(self.form, "turns", MOST_TURNS, whole=True))
                if not number:
                    raise SantiagoError(Kind.USAGE, "say how many")
                words = ["--add-turns", str(number)]
                return self._made(
                    f"Allow {number} more turns for {{}}?",
                    [],
                    f" --add-turns {number}",
                    lambda: self._carried_out(words),
                )
            case _:
                return self._answer()

    def _made(
        self, title: str, lines: Sequence[Line], options: str, do: Callable[[], str], agents: Sequence[Agent] = (), *, agreed: str = "",
        command: str = "",
    ) -> Step:  # fmt: skip
        """Return a step; where it has agents work and nothing can fence them, with that consent."""
        wanted = unfenced(self.planning.run_input, *agents) if agents else []
        asked = [line for one in wanted for line in (Line(one.title, "head"), *map(Line, one.lines))]
        self.consents = [word for one in wanted for word in one.said]
        command = command or f"{self.base}{options}{''.join(f' {word}' for word in self.consents)}"
        return Step(
            title=title.format(self.name), lines=(*lines, *asked), command=command, do=do, agreed=agreed or (AGREE if wanted else ""),
            form=self.form,
        )  # fmt: skip

    @property
    def _drafters(self) -> list[Agent]:
        return [one.agent for one in self.planning.asked.drafters]

    def _plan_on(self, wish: str, option: str) -> Step:
        text = text_of(self.form, "the text is empty; say what should be different")
        session_word.refuse_spent(self.planning)
        agents = [flat(one.label) for one in self.planning.asked.drafters][: None if wish == "adjust" else 1]
        lines = [
            *(Line(one) for one in harmless(text).splitlines()),
            Line(f"A turn of {', '.join(agents)} begins.", "dim"),
        ]
        title = "Continue planning {}?" if wish == "adjust" else "Have {} edited?"
        return self._made(title, lines, f" --{option} {quote(text)}", lambda: self._said(wish, text), self._drafters)

    def _finalize(self) -> Step:
        review, is_plan, word = (
            self.following.review,
            self.following.review.artifact == "plan",
            self.form.get("word", ""),
        )
        moved = session_word.moved_since(self.planning)
        starts = is_plan and word == CARRY_OUT
        words = ["--finalize", "--revision", str(review.revision), *(["--moved-base"] if moved else [])]
        words += ["--trust-commands"] if starts else ["--no-start"] if is_plan else []

        def do() -> str:
            self._leave("approve", moved=bool(moved))
            return self._carried_out([*words, *self.consents])

        after = "It begins at once." if starts else "Nothing begins." if is_plan else ""
        lines = [*finalize_page(self.following, moved, FINALIZE), Line(after)]
        agents = [self.planning.run_input.agent] if starts else []
        return self._made(
            f"Make revision {review.revision} of {{}} final?", lines, f" {' '.join(words)}", do, agents, agreed=FINALIZE
        )

    def _answer(self) -> Step:
        question = next(iter(self.following.asked))
        text = text_of(self.form, "the answer is empty")
        rests = not self.following.review.worker and "take_up" not in controls_of(self.following)

        def do() -> str:
            session_word.answer(load_session(self.following.folder), question, text, "", self.acts.who, "page")
            return self._carried_out(["--take-up"]) if rests else f"{question.id} is answered; the next turn knows it"

        command = f"santiago answer {self.name} {question.id} {quote(text)}"
        lines = [Line(one) for one in harmless(text).splitlines()]
        return self._made(f"Answer {question.id} of {{}}?", lines, "", do, command=command)

    # Sending

    def _leave(self, wish: str, text: str = "", *, moved: bool = False) -> None:
        planning, revision = load_session(self.following.folder), self.following.review.revision
        session_word.say_on_plan(planning, wish, text, self.acts.who, revision=revision, moved=moved, via="page")

    def _said(self, wish: str, text: str) -> str:
        self._leave(wish, text)
        return self._carried_out(["--take-up", *self.consents])

    def _cancel(self) -> str:
        during = self.planning.worker and self.planning.state.turn
        self._leave("cancel")
        return "the turn is being cancelled" if during else self._carried_out(["--take-up"])

    def _taken_up(self, words: Sequence[str]) -> str:
        session_word.take_up(load_session(self.following.folder), self.acts.who)  # raises where it cannot be
        return self._carried_out([*words, *self.consents])

    def _carried_out(self, words: Sequence[str]) -> str:
        """Have what was said carried out, by a process that outlives the pages."""
        folder = self.following.folder
        process = Detached(folder, ["review", str(folder), *words, "--actor", self.acts.who])
        return self.acts.began(folder, self.name, self.planning.state.seq, process)
