"""What people do on the pages. Each act is first understood and shown, and done when it is sent; it makes the same request as a command."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING

from santiago.app import detached, requests
from santiago.app.detached import Detached
from santiago.app.finding import find_story, target
from santiago.contract.answers import describe
from santiago.contract.counting import count
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.report.consents import consents, give
from santiago.report.page import Line
from santiago.report.question import REST, card, meant
from santiago.report.story_status import named
from santiago.util.text import flat, harmless
from santiago.web import board_acts
from santiago.web.followed import reads_homes
from santiago.web.step import Step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from santiago.app.loading import Run
    from santiago.app.requests import Asked
    from santiago.web.followed import Runs

MOST_ATTEMPTS, MOST_MINUTES, MOST_USD = 1000, 100_000, 100_000
AGREE = "agree"
"""What a person types who gives a consent."""


class Acts:
    """Understands forms. `who` is the name that goes into the log."""

    def __init__(self, runs: Runs, who: str) -> None:
        self.runs, self.who = runs, who
        self.started: dict[Path, tuple[Detached, int]] = {}
        """Run → the process that was started last from a page, and the number of the last event before that."""
        self._acts: dict[str, Callable[[Run, Mapping[str, str]], Step]] = {
            "answer": self._answer, "hint": self._hint, "change": self._change, "stop": self._stop, "pause": self._pause,
            "go-on": self._go_on, "accept-unproven": self._accept_unproven,
        }  # fmt: skip

    def understand(self, form: Mapping[str, str]) -> Step:
        """Return what a form asks for; raise where it asks for nothing that can be done."""
        if form.get("act", "").startswith("ticket-"):
            self._refuse_closed(None)
            return board_acts.understand(form, self.who)
        act = self._acts.get(form.get("act", ""))
        if act is None:
            raise SantiagoError(Kind.USAGE, "this form asks for nothing that is known here")
        run = self.runs.find(form.get("run", "")).run
        self._refuse_closed(run)
        return replace(act(run, form), act=form["act"])

    def _refuse_closed(self, run: Run | None) -> None:
        if reason := self.closed(run):
            raise SantiagoError(Kind.BLOCKED, reason, hint="The page shows the command that does the same.")

    def closed(self, run: Run | None) -> str:
        """Return why nothing can be done to a run, or to the board, from a page; empty where it can.

        A browser's session is one for all runs, so that a run whose agents can read it closes the others while it works.
        """
        if run is not None and reads_homes(run):
            return (
                f"the agents of {run.run_id} can read what this browser stores (Landlock), so answers come by command"
            )
        others = (self.runs.of(one.out_dir).run for one in self.runs.known()[:MOST_LOOKED_AT])
        reading = next((one for one in others if one.worker and reads_homes(one)), None)
        return (
            f"while {reading.run_id} works, its agents can read what this browser stores (Landlock)" if reading else ""
        )

    # Words to a run

    def _answer(self, run: Run, form: Mapping[str, str]) -> Step:
        question = run.state.questions.get(form.get("question", ""))
        if question is None:
            raise SantiagoError(Kind.INPUT, f"{run.run_id} has no question {form.get('question', '')[:80]}")
        asked = card(run.plan, run.state, question, run.out_dir)
        word, text = form.get("word", ""), form.get("text", "").strip()
        answer, scope = meant(asked, REST if word == REST else f"{word} {text}".strip())
        means = dict(asked.words).get(answer.text if answer.word == "pick" else answer.word, "")
        lines = [Line(f"{harmless(describe(answer))}{f', and the rest of this {scope}' if scope else ''}", "head")]
        lines += [Line(f"This will {means}.")] if means else []
        more = f" --text {quote(answer.text)}" if answer.text and answer.word != "pick" else ""
        given = answer.text if answer.word == "pick" else answer.word
        rest = f" --rest {scope}" if scope else ""

        def do() -> str:
            return requests.answer(
                run, asked.id, answer.word, self.who, text=answer.text, rest=scope or None, via="page"
            ).text

        return Step(
            title=f"Answer {asked.id}", lines=tuple(lines), button="Send this answer", text=text, do=do,
            command=f"{asked.command} {quote(given)}{more}{rest}", back=f"runs/{run.run_id}/questions/{asked.id}",
        )  # fmt: skip

    def _hint(self, run: Run, form: Mapping[str, str]) -> Step:
        return self._tell(
            run, form, "hint", "Leave a hint", "A running attempt is not disturbed; the next one reads it."
        )

    def _change(self, run: Run, form: Mapping[str, str]) -> Step:
        effect = "A running attempt stops at once, and its work is kept; the next one reads this."
        return self._tell(run, form, "change", "Ask for a change", effect)

    def _tell(self, run: Run, form: Mapping[str, str], kind: str, title: str, effect: str) -> Step:
        story, text = find_story(run, form.get("story", "")).id, form.get("text", "").strip()
        found = run.state.stories[story]
        if not text:
            raise SantiagoError(Kind.USAGE, "the text is empty; say what should be different")
        if found.skipped or found.phase is StoryPhase.DONE:
            word = "left out" if found.skipped else found.phase
            raise SantiagoError(Kind.INPUT, f"{story} is {word}, and that cannot be undone")
        ask = requests.hint if kind == "hint" else requests.change
        return Step(
            title=f"{title} for {story}", lines=(*(Line(one) for one in harmless(text).splitlines()), Line(effect, "dim")),
            button="Send it", text=text, command=f"santiago {kind}{target(run.out_dir)} {story} --text {quote(text)}",
            back=f"runs/{run.run_id}/stories/{story}", do=lambda: _sent(ask(run, story, text, self.who)),
        )  # fmt: skip

    def _stop(self, run: Run, form: Mapping[str, str]) -> Step:
        now = form.get("word") == "now"
        effect = "Agents and checks end at once; their work is kept." if now else "What is under way is finished first."
        return Step(
            title=f"Stop {run.run_id}{' at once' if now else ''}?", lines=(Line(effect),), button="Stop it at once" if now else "Stop it",
            command=f"santiago stop{target(run.out_dir)}{' --now' if now else ''}", back=f"runs/{run.run_id}",
            do=lambda: _sent(requests.stop(run.out_dir, run.run_id, self.who, running=bool(run.worker), now=now)),
        )  # fmt: skip

    def _pause(self, run: Run, form: Mapping[str, str]) -> Step:
        on = form.get("word") != "off"
        effect = "It pauses after each chunk, and waits for you." if on else "It goes on by itself after each chunk."
        return Step(
            title=f"{'Pause' if on else 'No longer pause'} after each chunk?", lines=(Line(effect),), button="Yes, please",
            command=f"santiago pause{target(run.out_dir)}{'' if on else ' --off'}", back=f"runs/{run.run_id}",
            do=lambda: _sent(requests.pause(run, self.who, on=on)),
        )  # fmt: skip

    # Going on

    def _go_on(self, run: Run, form: Mapping[str, str]) -> Step:
        if run.worker or not run.resumable:
            raise SantiagoError(Kind.INPUT, f"{run.run_id} is {'running already' if run.worker else 'finished'}")
        attempts = int(_number(form, "attempts", MOST_ATTEMPTS, whole=True))
        minutes, usd = _number(form, "minutes", MOST_MINUTES), _number(form, "usd", MOST_USD)
        grants = [
            (attempts, f" --add-attempts {attempts}", f"{count(attempts, 'more attempt')} for what failed or is spent"),
            (minutes, f" --add-minutes {minutes:g}", f"{minutes:g} more minutes"),
            (usd, f" --add-cost {usd:g}", f"${usd:g} more"),
        ]
        left = sum(1 for one in run.state.stories.values() if not one.skipped and not one.parent and not one.satisfied)
        wanted = consents(run)
        said = " ".join(word for one in wanted for word in one.said)
        command = f"santiago resume{target(run.out_dir)}{''.join(words for given, words, _ in grants if given)}"
        lines = [Line(f"{count(left, 'story', 'stories')} to go"), *(Line(told) for given, _, told in grants if given)]
        for one in wanted:
            lines += [
                Line(one.title, "head"),
                *(Line(harmless(line), verbatim=line.startswith(" ")) for line in one.lines),
            ]

        def do() -> str:
            agreed = tuple(word for one in wanted for word in give(run, one))
            process = detached.resume(run.out_dir, attempts=attempts, minutes=minutes, usd=usd, consents=agreed)
            return self._begun(run, process)

        return Step(
            title=f"{'Go on with' if run.begun else 'Begin'} {run.run_id}?", lines=tuple(lines), button="Go on" if run.begun else "Begin",
            command=f"{command} {said}".rstrip(), back=f"runs/{run.run_id}", do=do, agreed=AGREE if wanted else "",
        )  # fmt: skip

    def _accept_unproven(self, run: Run, form: Mapping[str, str]) -> Step:
        why, names = form.get("text", "").strip(), [one.id for one in run.state.stories.values() if one.is_unproven]
        if not names:
            raise SantiagoError(Kind.INPUT, f"no story of {run.run_id} is unproven")
        if not why:
            raise SantiagoError(Kind.USAGE, "say why; the log keeps it with your name")
        words = ["accept", str(run.out_dir), "--unproven", "--why", why, "--actor", self.who]
        lines = [
            Line(f"{named(names)}: no test fails without the work of {'this story' if len(names) == 1 else 'these stories'}.", "warn"),
            Line(f"Your word is what makes {'it' if len(names) == 1 else 'them'} done. The log keeps it with your name and this reason:"),
            Line(flat(why), "head"),
        ]  # fmt: skip
        return Step(
            title=f"Accept {count(len(names), 'unproven story', 'unproven stories')} of {run.run_id}?", lines=tuple(lines), button="Accept",
            command=f"santiago accept {quote(run.run_id)} --unproven --why {quote(why)}", back=f"runs/{run.run_id}", text=why, agreed="accept",
            do=lambda: self._begun(run, Detached(run.out_dir, words, ())),
        )  # fmt: skip

    def _begun(self, run: Run, process: Detached) -> str:
        self.started[run.out_dir] = process, run.state.seq
        return f"{' '.join(process.command[:2])} began for {run.run_id}"

    def refused(self, run: Run) -> list[str]:
        """Return what a process said that was started from a page and ended without any event; empty otherwise."""
        process, seq = self.started.get(run.out_dir, (None, 0))
        code = process.ended() if process else None
        return process.said() if process and code and run.state.seq == seq else []


MOST_LOOKED_AT = 40
"""How many of the newest runs are looked at for agents that could read a browser's files."""


def _sent(asked: Asked) -> str:
    return asked.text


def _number(form: Mapping[str, str], name: str, most: float, *, whole: bool = False) -> float:
    """Return a number of a form; 0 where its field is empty."""
    text = form.get(name, "").strip()
    if not text:
        return 0
    try:
        number = float(text) if text.isascii() and len(text) < 12 else -1.0
    except ValueError:
        number = -1.0
    if not 0 <= number <= most or (whole and number != int(number)):
        raise SantiagoError(
            Kind.USAGE, f"{name}: {flat(text)[:20]!r} is not a {'whole ' if whole else ''}number from 0 to {most:,}"
        )
    return number
