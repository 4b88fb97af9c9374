"""What people do on the pages. Each act is first understood and shown, and done when it is sent; it makes the same request as a command."""

from __future__ import annotations

from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from santiago.app import detached, requests
from santiago.app.detached import Detached
from santiago.app.finding import find_story, target
from santiago.app.loading import working
from santiago.app.planning.planning_sessions import sessions_here
from santiago.contract.answers import describe
from santiago.contract.counting import count
from santiago.contract.errors import Kind, SantiagoError
from santiago.report.consents import consents, give
from santiago.report.page import Line
from santiago.report.question import REST, card, meant
from santiago.report.run_page import pauses_now
from santiago.report.story_status import explanation, named
from santiago.util.text import flat, harmless
from santiago.web.acting import board_acts, plan_acts
from santiago.web.acting.step import AGREE, Field, Form, Step, number_of, text_of
from santiago.web.followed import fence_here, reads_homes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from santiago.app.loading import Run
    from santiago.contract.state import StoryState
    from santiago.report.question import Card
    from santiago.web.followed import Runs

MOST_ATTEMPTS, MOST_MINUTES, MOST_USD = 1000, 100_000, 100_000
MOST_LOOKED_AT = 40
"""How many of the newest runs are looked at for agents that could read a browser's files."""
_STORY = {
    "hint": ("Leave a hint", "What should its next attempt know?", "A running attempt is not disturbed; the next one reads this.", "h"),
    "change": (
        "Ask for a change", "What should be different?", "A running attempt stops at once, and its work is kept; the next one reads this.", "e",
    ),
    "accept": ("Accept its work", "Why is it done, whatever its checks said?", "Your word is what makes it done. The log keeps it with your name.", ""),
    "skip": ("Leave it out", "Why is it left out?", "Other stories stop waiting for it. It cannot be taken up again in this run.", ""),
}  # fmt: skip
"""What people do with one story: its title, what is asked, its effect, its key."""
_GRANTS = (("Attempts", "attempts"), ("Minutes", "minutes"), ("US dollars", "usd"))
_BY_PROCESS = ("accept", "skip")
"""Acts that a process of their own carries out."""


class Acts:
    """Offers forms, and understands them. `who` is the name that goes into the log."""

    def __init__(self, runs: Runs, who: str) -> None:
        self.runs, self.who = runs, who
        self._started: dict[Path, tuple[Detached, int]] = {}
        """Run or plan → the process that was started last from a page, and the number of the last event before that."""
        self._acts: dict[str, Callable[[Run, Mapping[str, str]], Step]] = {
            "answer": self._answer, **dict.fromkeys(_STORY, self._tell), "stop": self._stop, "pause": self._pause,
            "go-on": self._go_on, "accept-unproven": self._accept_unproven,
        }  # fmt: skip

    def understand(self, form: Mapping[str, str]) -> Step:
        """Return what a form asks for; raise where it asks for nothing that can be done."""
        act, kind = form.get("act", ""), form.get("act", "").partition("-")[0]
        run = self.runs.find(form.get("run", "")).run if act in self._acts else None
        if run is None and kind not in ("ticket", "plan"):
            raise SantiagoError(Kind.USAGE, "this form names no run, plan or ticket of this repository")
        if reason := self.closed(run):
            raise SantiagoError(Kind.BLOCKED, reason, hint="The page shows the command that does the same.")
        if run is not None:
            return self._acts[act](run, form)
        return board_acts.understand(form, self.who) if kind == "ticket" else plan_acts.understand(form, self)

    def closed(self, run: Run | None) -> str:
        """Return why nothing can be done to a run, to plans or to the board from a page; empty where it can.

        A browser's session is one for all of them, so that what works with agents that can read it closes the others.
        """
        if run is not None and reads_homes(run):
            return (
                f"the agents of {run.run_id} can read what this browser stores (Landlock), so answers come by command"
            )
        names = [one.run_id for one in self.runs.known()[:MOST_LOOKED_AT] if self._reads_homes_now(one.out_dir)]
        if fence_here() == "landlock":
            names += [folder.name for folder in sessions_here()[:MOST_LOOKED_AT] if working(folder)]
        return f"while {names[0]} works, its agents can read what this browser stores (Landlock)" if names else ""

    def _reads_homes_now(self, out_dir: Path) -> bool:
        try:
            return bool(working(out_dir)) and reads_homes(self.runs.of(out_dir).run)
        except SantiagoError:
            return True  # somebody works on a run that cannot be read, so nobody can say with which fence

    # Words to a run

    def of_question(self, run: Run, asked: Card, *, answered: bool) -> Form:
        rest = [(REST, f"{asked.words[0][0]}, and the rest of chunk {flat(asked.chunk)} too")] if asked.chunk else []
        label = "In your own words (some answers need them, for others they are a remark)"
        return Form(
            act="answer", about={"run": run.run_id, "question": asked.id}, fields=(Field(label),), words=(*asked.words, *rest),
            command=f"{asked.command} ANSWER", is_over=answered,
        )  # fmt: skip

    def _answer(self, run: Run, form: Mapping[str, str]) -> Step:
        question = run.state.questions.get(form.get("question", ""))
        if question is None:
            raise SantiagoError(Kind.INPUT, f"{run.run_id} has no question {form.get('question', '')[:80]}")
        asked = card(run.plan, run.state, question, run.out_dir)
        word, text = form.get("word", ""), form.get("text", "").strip()
        answer, scope = meant(asked, REST if word == REST else f"{word} {text}".strip())
        given, more = (answer.text, "") if answer.word == "pick" else (answer.word, answer.text)
        means = dict(asked.words).get(given, "")
        lines = [Line(f"{harmless(describe(answer))}{f', and the rest of this {scope}' if scope else ''}", "head")]
        lines += [Line(f"This will {means}.")] if means else []
        options = (f" --text {quote(more)}" if more else "") + (f" --rest {scope}" if scope else "")
        send = requests.answer
        return Step(
            title=f"Answer {asked.id}", lines=lines, button="Send this answer", command=f"{asked.command} {quote(given)}{options}", form=form,
            do=lambda: send(run, asked.id, answer.word, self.who, text=answer.text, rest=scope or None, via="page").text,
        )  # fmt: skip

    def of_story(self, run: Run, name: str) -> list[Form]:
        found, forms = run.state.stories[name], []
        for act in _offered(run, found):
            title, asks, effect, key = _STORY[act]
            command = f'santiago {act}{target(run.out_dir)} {name} {_flag(act)} "…"'
            about = {"run": run.run_id, "story": name}
            forms.append(
                Form(act=act, about=about, title=title, told=(effect,), fields=(Field(asks),), key=key, command=command)
            )
        return forms

    def _tell(self, run: Run, form: Mapping[str, str]) -> Step:
        """Understand what is said about one story."""
        act, planned = form["act"], find_story(run, form.get("story", ""))
        title, _, effect, _ = _STORY[act]
        text = text_of(
            form,
            "the text is empty; say why" if act in _BY_PROCESS else "the text is empty; say what should be different",
        )
        found = run.state.stories[planned.id]
        if act not in _offered(run, found):
            raise SantiagoError(
                Kind.INPUT, f"{planned.id} is {'left out' if found.skipped else found.phase}; this cannot be done now"
            )
        lines = [*(Line(one) for one in harmless(text).splitlines()), Line(effect, "dim")]
        if act == "accept":
            lines += [Line(one, "warn") for one in explanation(run.state, planned, run.run_input)]
        words = [act, str(run.out_dir), planned.id, "--why", text, "--actor", self.who]
        ask = requests.hint if act == "hint" else requests.change
        return Step(
            title=f"{title}: {planned.id}?", lines=lines, agreed="accept" if act == "accept" else "", form=form,
            command=f"santiago {act}{target(run.out_dir)} {planned.id} {_flag(act)} {quote(text)}",
            do=lambda: self.begin(run, words) if act in _BY_PROCESS else ask(run, planned.id, text, self.who).text,
        )  # fmt: skip

    # Stopping and going on

    def of_run(self, run: Run, word: str) -> list[Form]:
        at, found = target(run.out_dir), list[Form]()
        form = partial(Form, about={"run": run.run_id})
        if run.worker:
            again, on = word == "stopping", not pauses_now(run)
            button, sent, look, option = ("Stop at once", "now", "danger", " --now") if again else ("Stop", "", "", "")
            found.append(
                form(act="stop", button=button, word=sent, look=look, key="s", command=f"santiago stop{at}{option}")
            )
            button, sent, option = (
                ("Pause after each chunk", "on", "") if on else ("No longer pause after chunks", "off", " --off")
            )
            found.append(form(act="pause", button=button, word=sent, key="p", command=f"santiago pause{at}{option}"))
        elif run.resumable:
            button = "Go on" if run.begun else "Begin"
            found.append(form(act="go-on", button=button, look="main", key="r", command=f"santiago resume{at}"))
            if run.begun:
                found.append(form(
                    act="go-on", title="Grant more and go on", key="g", command=f"santiago resume{at} --add-attempts N",
                    told=("Attempts are for each story that failed or used all of its own.",),
                    fields=tuple(Field(*names, "number") for names in _GRANTS),
                ))  # fmt: skip
        if unproven := _unproven(run):
            found.append(form(
                act="accept-unproven", title=f"Accept all {len(unproven)} that no test shows",
                told=(f"{', '.join(unproven)}: the work passes its checks, and no test fails without it.",),
                fields=(Field("Why are they done?"),), command=f'santiago accept{at} --unproven --why "…"',
            ))  # fmt: skip
        return found

    def _stop(self, run: Run, form: Mapping[str, str]) -> Step:
        now = form.get("word") == "now"
        effect = "Agents and checks end at once; their work is kept." if now else "What is under way is finished first."
        return Step(
            title=f"Stop {run.run_id}{' at once' if now else ''}?", lines=[Line(effect)], button="Stop it", form=form,
            command=f"santiago stop{target(run.out_dir)}{' --now' if now else ''}",
            do=lambda: requests.stop(run.out_dir, run.run_id, self.who, running=bool(run.worker), now=now).text,
        )  # fmt: skip

    def _pause(self, run: Run, form: Mapping[str, str]) -> Step:
        on = form.get("word") != "off"
        effect = "It pauses after each chunk, and waits for you." if on else "It goes on by itself after each chunk."
        return Step(
            title=f"{'Pause' if on else 'No longer pause'} after each chunk?", lines=[Line(effect)], form=form,
            command=f"santiago pause{target(run.out_dir)}{'' if on else ' --off'}",
            do=lambda: requests.pause(run, self.who, on=on).text,
        )  # fmt: skip

    def _go_on(self, run: Run, form: Mapping[str, str]) -> Step:
        if run.worker or not run.resumable:
            raise SantiagoError(Kind.INPUT, f"{run.run_id} is {'running already' if run.worker else 'finished'}")
        attempts = int(number_of(form, "attempts", MOST_ATTEMPTS, whole=True))
        minutes, usd = number_of(form, "minutes", MOST_MINUTES), number_of(form, "usd", MOST_USD)
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
            told = (Line(harmless(line), verbatim=line.startswith(" ")) for line in one.lines)
            lines += [Line(one.title, "head"), *told]

        def do() -> str:
            agreed = tuple(word for one in wanted for word in give(run, one))
            process = detached.resume(
                run.out_dir, attempts=attempts, minutes=minutes, usd=usd, consents=agreed, actor=self.who
            )
            return self.began(run.out_dir, run.run_id, run.state.seq, process)

        button = "Go on" if run.begun else "Begin"
        return Step(
            title=f"{button}{' with' if run.begun else ''} {run.run_id}?", lines=lines, button=button, command=f"{command} {said}".rstrip(),
            do=do, agreed=AGREE if wanted else "", form=form,
        )  # fmt: skip

    def _accept_unproven(self, run: Run, form: Mapping[str, str]) -> Step:
        why, names = text_of(form, "say why; the log keeps it with your name"), _unproven(run)
        if not names:
            raise SantiagoError(Kind.INPUT, f"no story of {run.run_id} is unproven")
        lines = [
            Line(f"{named(names)}: no test fails without the work.", "warn"), Line(_STORY["accept"][2]), Line(flat(why), "head"),
        ]  # fmt: skip
        words = ["accept", str(run.out_dir), "--unproven", "--why", why, "--actor", self.who]
        return Step(
            title=f"Accept {count(len(names), 'unproven story', 'unproven stories')} of {run.run_id}?", lines=lines, button="Accept", form=form,
            command=f"santiago accept{target(run.out_dir)} --unproven --why {quote(why)}", agreed="accept",
            do=lambda: self.begin(run, words),
        )  # fmt: skip

    # Processes

    def begin(self, run: Run, words: Sequence[str]) -> str:
        """Have a command carried out on a run."""
        return self.began(run.out_dir, run.run_id, run.state.seq, Detached(run.out_dir, words, ()))

    def began(self, folder: Path, name: str, seq: int, process: Detached) -> str:
        """Keep in mind what was started when a log had so many events; return what to tell."""
        self._started[folder] = process, seq
        return f"{' '.join(process.command[:2])} began for {name}"

    def refused(self, folder: Path, now: int) -> list[str]:
        """Return what a process said that was started from a page and ended without any event; empty otherwise."""
        process, seq = self._started.get(folder, (None, 0))
        code = process.ended() if process else None
        return process.said() if process and code and now == seq else []


def _flag(act: str) -> str:
    return "--why" if act in _BY_PROCESS else "--text"


def _offered(run: Run, story: StoryState) -> list[str]:
    """Return what can be done with a story: nothing where it is done or left out; no process is started where one works."""
    if story.skipped or (story.satisfied and not story.is_unproven):
        return []
    words = [] if story.satisfied else ["hint", "change"]
    accept = ["accept"] if story.attempts and (not run.worker or story.is_unproven) else []
    return [*words, *accept, *([] if run.worker or story.satisfied else ["skip"])]


def _unproven(run: Run) -> list[str]:
    return [one.id for one in run.state.stories.values() if one.is_unproven]
