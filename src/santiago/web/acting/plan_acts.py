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
    from pathlib import Path

    from santiago.contract.policy import Agent
    from santiago.contract.state import Question
    from santiago.report.following_session import Control

    Began = Callable[[Path, str, int, Detached], str]
    """Keeps in mind what was started for a folder, and returns what to tell."""

MOST_TURNS = 1000
FINALIZE = "finalize"
"""What a person types who approves a plan and its commands."""
CARRY_OUT = "carry it out"


def offered(form: Mapping[str, str], who: str, began: Began) -> tuple[str, list[Form]]:
    """Return how the plan stands which a form is about, and what is offered for it; raise if a newer revision replaced the one looked at."""
    following = FollowingSession(session_here(form.get("session", "")), compared=False)
    review = following.review
    if form.get("revision") != str(review.revision):
        message = f"revision {review.revision} has replaced the one that you looked at"
        raise SantiagoError(Kind.INPUT, message, hint="Look at what it changed first.")
    return f"{review.session_id} is in the state `{review.state}`", PlanActs(following, who, began).forms()


class PlanActs:
    """What a person can say to one plan."""

    def __init__(self, following: FollowingSession, who: str, began: Began) -> None:
        self.following, self.who, self.began = following, who, began
        self.planning, self.review, self.name = following.planning, following.review, following.review.session_id
        self.controls, self.base = controls_of(following), f"santiago review {following.review.session_id}"
        self.drafters = [one.agent for one in self.planning.asked.drafters]
        self.agents = [flat(one.label) for one in self.planning.asked.drafters]

    def forms(self) -> list[Form]:
        """Return what can be asked for now."""
        review, base = self.review, self.base
        different = (Field(f"What should be different in revision {review.revision}?"),)
        finals: tuple[tuple[str, str], ...] = (
            (CARRY_OUT, "it becomes a run, which begins at once"),
            ("start nothing", "it becomes a run, which you begin when you want"),
        )
        if review.artifact == "document":
            finals = (("write it", f"it becomes the file {flat(review.output)}"),)
        form = partial(Form, about={"session": self.name, "revision": str(review.revision)})
        every: dict[Control, Form] = {
            "take_up": form(
                act="plan-take-up", button="Take it up", look="main", key="t", command=f"{base} --take-up", means=self._take_up
            ),
            "cancel": form(
                act="plan-cancel", button="Cancel the turn" if review.state == "drafting" else "Cancel", key="x",
                command=f"{base} --cancel", means=self._cancel,
            ),
            "continue": form(
                act="plan-continue", title="Continue planning", told=(f"Another turn of {', '.join(self.agents)}.",), fields=different,
                key="c", command=f'{base} --continue "…"', means=partial(self._plan_on, "adjust", self.agents),
            ),
            "edit": form(
                act="plan-edit", title="Quick edit", told=(f"A turn of {self.agents[0]}.",), fields=different, key="e",
                command=f'{base} --edit "…"', means=partial(self._plan_on, "edit", self.agents[:1]),
            ),
            "more_turns": form(
                act="plan-turns", title="Allow more turns", told=(f"Used: {review.spent}",), fields=(Field("How many more", "turns", "number"),),
                key="m", command=f"{base} --add-turns N", means=self._more_turns,
            ),
            "finalize": form(
                act="plan-finalize", title="Make it final", words=finals, key="f", command=f"{base} --finalize --revision {review.revision}",
                means=self._finalize,
            ),
        }  # fmt: skip
        asks = [
            form(
                act="plan-answer", title=f"Answer {one.id}", told=tuple(harmless(one.text).splitlines()), fields=(Field("Your answer"),),
                key="a", command=f'santiago answer {self.name} {one.id} "…"', means=partial(self._answer, one),
            )
            for one in self.following.asked[:1]  # one after the other
        ]  # fmt: skip
        return [*asks, *(one for control, one in every.items() if control in self.controls)]

    def _step(
        self, form: Mapping[str, str], title: str, lines: Sequence[Line], command: str, do: Callable[[Sequence[str]], str],
        agents: Sequence[Agent] = (), agreed: str = "",
    ) -> Step:  # fmt: skip
        """Return a step; where it has agents work and nothing can fence them, with that consent, whose options `do` is given."""
        wanted = unfenced(self.planning.run_input, *agents)
        said = [word for one in wanted for word in one.said]
        asked = [line for one in wanted for line in (Line(one.title, "head"), *map(Line, one.lines))]
        return Step(
            title=title, lines=(*lines, *asked), command=" ".join((command, *said)), do=lambda: do(said), form=form,
            agreed=agreed or (AGREE if wanted else ""),
        )  # fmt: skip

    def _cancel(self, form: Mapping[str, str]) -> Step:
        def do(_: Sequence[str]) -> str:
            during = self.planning.worker and self.planning.state.turn
            self._leave("cancel")
            return "the turn is being cancelled" if during else self._carried_out("--take-up")

        told = "Nothing is carried out. The plan is kept, with all its revisions and what was said; it can be taken up again."
        return self._step(form, f"Cancel {self.name}?", [Line(told)], f"{self.base} --cancel", do)

    def _take_up(self, form: Mapping[str, str]) -> Step:
        def do(said: Sequence[str]) -> str:
            session_word.take_up(load_session(self.following.folder), self.who)  # raises where it cannot be
            return self._carried_out("--take-up", *said)

        return self._step(form, f"Take {self.name} up?", [], f"{self.base} --take-up", do, self.drafters)

    def _more_turns(self, form: Mapping[str, str]) -> Step:
        number = int(number_of(form, "turns", MOST_TURNS, whole=True))
        if not number:
            raise SantiagoError(Kind.USAGE, "say how many")
        title, words = f"Allow {number} more turns for {self.name}?", ("--add-turns", str(number))
        return self._step(form, title, [], " ".join((self.base, *words)), lambda _: self._carried_out(*words))

    def _plan_on(self, wish: str, agents: Sequence[str], form: Mapping[str, str]) -> Step:
        text = text_of(form, "say what should be different")
        session_word.refuse_spent(self.planning)
        lines = [Line(one) for one in harmless(text).splitlines()]
        lines.append(Line(f"A turn of {', '.join(agents)} begins.", "dim"))

        def do(said: Sequence[str]) -> str:
            self._leave(wish, text)
            return self._carried_out("--take-up", *said)

        title, option = (
            (f"Continue planning {self.name}?", "continue")
            if wish == "adjust"
            else (f"Have {self.name} edited?", "edit")
        )
        return self._step(form, title, lines, f"{self.base} --{option} {quote(text)}", do, self.drafters)

    def _finalize(self, form: Mapping[str, str]) -> Step:
        number, moved = self.review.revision, session_word.moved_since(self.planning)
        words, after, agents = ["--finalize", "--revision", str(number)], "", []
        words += ["--moved-base"] if moved else []
        if self.review.artifact == "plan" and form.get("word") == CARRY_OUT:
            words, after, agents = [*words, "--trust-commands"], "It begins at once.", [self.planning.run_input.agent]
        elif self.review.artifact == "plan":
            words, after = [*words, "--no-start"], "Nothing begins."

        def do(said: Sequence[str]) -> str:
            self._leave("approve", moved=bool(moved))
            return self._carried_out(*words, *said)

        title, lines = f"Make revision {number} of {self.name} final?", finalize_page(self.following, moved, FINALIZE)
        return self._step(form, title, [*lines, Line(after)], " ".join((self.base, *words)), do, agents, FINALIZE)

    def _answer(self, question: Question, form: Mapping[str, str]) -> Step:
        text = text_of(form, "type an answer")

        def do(_: Sequence[str]) -> str:
            session_word.answer(load_session(self.following.folder), question, text, "", self.who, "page")
            rests = not self.review.worker and "take_up" not in self.controls
            return self._carried_out("--take-up") if rests else f"{question.id} is answered; the next turn knows it"

        lines = [Line(one) for one in harmless(text).splitlines()]
        command = f"santiago answer {self.name} {question.id} {quote(text)}"
        return self._step(form, f"Answer {question.id} of {self.name}?", lines, command, do)

    # Sending

    def _leave(self, wish: str, text: str = "", *, moved: bool = False) -> None:
        planning, revision = load_session(self.following.folder), self.review.revision
        session_word.say_on_plan(planning, wish, text, self.who, revision=revision, moved=moved, via="page")

    def _carried_out(self, *words: str) -> str:
        """Have what was said carried out, by a process that outlives the pages."""
        folder = self.following.folder
        process = Detached(folder, ["review", str(folder), *words, "--actor", self.who])
        return self.began(folder, self.name, self.planning.state.seq, process)
