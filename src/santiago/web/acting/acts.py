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
from santiago.report.run_status import word_of
from santiago.report.story_status import explanation, named
from santiago.util.text import flat, harmless
from santiago.web.acting import board_acts, plan_acts
from santiago.web.acting.step import AGREE, Field, Form, Step, number_of, text_of
from santiago.web.followed import fence_here, reads_homes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from santiago.app.loading import Run
    from santiago.report.question import Card
    from santiago.web.followed import Runs

MOST_ATTEMPTS, MOST_MINUTES, MOST_USD = 1000, 100_000, 100_000
MOST_LOOKED_AT = 40
"""How many of the newest runs are looked at for agents that could read a browser's files."""
_STORY = {
    "hint": ("Leave a hint", "What should its next attempt know?", "A running attempt is not disturbed; the next one reads this.", "h", "--text"),
    "change": (
        "Ask for a change", "What should be different?",
        "A running attempt stops at once, and its work is kept; the next one reads this.", "e", "--text",
    ),
    "accept": (
        "Accept its work", "Why is it done, whatever its checks said?",
        "Your word is what makes it done. The log keeps it with your name.", "", "--why",
    ),
    "skip": (
        "Leave it out", "Why is it left out?", "Other stories stop waiting for it. It cannot be taken up again in this run.", "", "--why",
    ),
}  # fmt: skip
"""What people do with one story: its title, what is asked, its effect, its key, and the option of the command that takes the text."""
_GRANTS = (("Attempts", "attempts"), ("Minutes", "minutes"), ("US dollars", "usd"))


class Acts:
    """Offers forms, and understands them. `who` is the name that goes into the log."""

    def __init__(self, runs: Runs, who: str) -> None:
        self.runs, self.who = runs, who
        self._started: dict[Path, tuple[Detached, int]] = {}
        """Run or plan → the process that was started last from a page, and the number of the last event before that."""

    def understand(self, form: Mapping[str, str]) -> Step:
        """Return what a form asks for; raise where that is not offered now, whoever made the form."""
        standing, forms = self._offered(self._open(form), form)
        found = next((one for one in forms if one.act == form.get("act")), None)
        if found is None:
            hint = "Look at its page again: it shows what can be done now."
            raise SantiagoError(Kind.INPUT, f"{standing}; this cannot be done now", hint=hint)
        return found.means(form)

    def send(self, step: Step) -> str:
        """Do what was understood; raise where agents began in the meantime that could have pressed that button themselves."""
        self._open(step.form)
        return step.do()

    def _open(self, form: Mapping[str, str]) -> Run | None:
        """Return the run that a form is about, None for a plan or a ticket; raise where nothing can be done from a page now."""
        run = self.runs.find(form["run"]).run if form.get("run") else None
        if run is None and not form.get("ticket") and not form.get("session"):
            raise SantiagoError(Kind.USAGE, "this form names no run, plan or ticket of this repository")
        if reason := self.closed(run):
            raise SantiagoError(Kind.BLOCKED, reason, hint="The page shows the command that does the same.")
        return run

    def _offered(self, run: Run | None, form: Mapping[str, str]) -> tuple[str, list[Form]]:
        """Return how that stands which a form is about, and what is offered for it."""
        if run is None:
            return (
                board_acts.offered(form, self.who)
                if form.get("ticket")
                else plan_acts.offered(form, self.who, self.began)
            )
        if question := run.state.questions.get(form.get("question", "")):
            asked = card(run.plan, run.state, question, run.out_dir)
            return f"{asked.id} is a question", [self.of_question(run, asked)]
        if name := form.get("story"):
            story = run.state.stories[find_story(run, name).id]
            return f"{story.id} is {'left out' if story.skipped else story.phase}", self.of_story(run, story.id)
        return f"{run.run_id} is {word_of(run)}", self.of_run(run)

    def closed(self, run: Run | None) -> str:
        """Return why nothing can be done to a run, to plans or to the board from a page; empty where it can.

        A browser's session is one for all of them, so that what works with agents that can read it closes the others.
        """
        if run is not None and reads_homes(run):
            who = f"the agents of {run.run_id}"
            return f"{who} can read what this browser stores (Landlock), so answers come by command"
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

    def of_question(self, run: Run, asked: Card, *, answered: bool = False) -> Form:
        rest = [(REST, f"{asked.words[0][0]}, and the rest of chunk {flat(asked.chunk)} too")] if asked.chunk else []
        label = "In your own words (some answers need them, for others they are a remark)"
        return Form(
            act="answer", about={"run": run.run_id, "question": asked.id}, fields=(Field(label),), words=(*asked.words, *rest),
            command=f"{asked.command} ANSWER", is_over=answered, means=partial(self._answer, run, asked),
        )  # fmt: skip

    def _answer(self, run: Run, asked: Card, form: Mapping[str, str]) -> Step:
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
        """Return what can be said about a story; nothing where it is done or left out. Where a process works, none is started."""
        story, about = run.state.stories[name], {"run": run.run_id, "story": name}
        acts = [] if story.satisfied else ["hint", "change"]
        acts += ["accept"] if story.attempts and (not run.worker or story.is_unproven) else []
        acts += [] if run.worker or story.satisfied else ["skip"]
        forms = []
        for act in [] if story.skipped or (story.satisfied and not story.is_unproven) else acts:
            title, asks, effect, key, option = _STORY[act]
            command = f"santiago {act}{target(run.out_dir)} {name} {option}"
            forms.append(Form(
                act=act, about=about, title=title, told=(effect,), fields=(Field(asks),), key=key, command=f'{command} "…"',
                means=partial(self._tell, run, act, name, command),
            ))  # fmt: skip
        return forms

    def _tell(self, run: Run, act: str, name: str, command: str, form: Mapping[str, str]) -> Step:
        title, _, effect, _, option = _STORY[act]
        text = text_of(form, "say why" if option == "--why" else "say what should be different")
        lines = [*(Line(one) for one in harmless(text).splitlines()), Line(effect, "dim")]
        if act == "accept":
            lines += [Line(one, "warn") for one in explanation(run.state, find_story(run, name), run.run_input)]
        ask = {"hint": requests.hint, "change": requests.change}.get(act)
        return Step(
            title=f"{title}: {name}?", lines=lines, agreed="accept" if act == "accept" else "", form=form, command=f"{command} {quote(text)}",
            do=lambda: ask(run, name, text, self.who).text if ask else self._begin(run, act, name, "--why", text),
        )  # fmt: skip

    # Stopping and going on

    def of_run(self, run: Run) -> list[Form]:
        at, found = target(run.out_dir), list[Form]()
        form = partial(Form, about={"run": run.run_id})
        if run.worker:
            again, on = word_of(run) == "stopping", not pauses_now(run)
            found.append(form(
                act="stop", button="Stop at once" if again else "Stop", word="now" if again else "", look="danger" if again else "", key="s",
                command=f"santiago stop{at}{' --now' if again else ''}", means=partial(self._stop, run),
            ))  # fmt: skip
            found.append(form(
                act="pause", button="Pause after each chunk" if on else "No longer pause after chunks", word="on" if on else "off", key="p",
                command=f"santiago pause{at}{'' if on else ' --off'}", means=partial(self._pause, run),
            ))  # fmt: skip
        elif run.resumable:
            go_on = partial(form, act="go-on", means=partial(self._go_on, run))
            button = "Go on" if run.begun else "Begin"
            found.append(go_on(button=button, look="main", key="r", command=f"santiago resume{at}"))
            if run.begun:
                found.append(go_on(
                    title="Grant more and go on", key="g", command=f"santiago resume{at} --add-attempts N",
                    told=("Attempts are for each story that failed or used all of its own.",),
                    fields=tuple(Field(*names, "number") for names in _GRANTS),
                ))  # fmt: skip
        if unproven := [one.id for one in run.state.stories.values() if one.is_unproven]:
            found.append(form(
                act="accept-unproven", title=f"Accept all {len(unproven)} that no test shows",
                told=(f"{', '.join(unproven)}: the work passes its checks, and no test fails without it.",),
                fields=(Field("Why are they done?"),), command=f'santiago accept{at} --unproven --why "…"',
                means=partial(self._accept_unproven, run, unproven),
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
        attempts = int(number_of(form, "attempts", MOST_ATTEMPTS, whole=True))
        minutes, usd = number_of(form, "minutes", MOST_MINUTES), number_of(form, "usd", MOST_USD)
        grants = [
            (attempts, f" --add-attempts {attempts}", f"{count(attempts, 'more attempt')} for what failed or is spent"),
            (minutes, f" --add-minutes {minutes:g}", f"{minutes:g} more minutes"),
            (usd, f" --add-cost {usd:g}", f"${usd:g} more"),
        ]
        left = sum(1 for one in run.state.stories.values() if not one.skipped and not one.parent and not one.satisfied)
        wanted = consents(run)
        said = "".join(f" {word}" for one in wanted for word in one.said)
        command = f"santiago resume{target(run.out_dir)}{''.join(words for given, words, _ in grants if given)}{said}"
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

        button, title = ("Go on", f"Go on with {run.run_id}?") if run.begun else ("Begin", f"Begin {run.run_id}?")
        return Step(
            title=title, lines=lines, button=button, command=command, do=do, agreed=AGREE if wanted else "", form=form
        )

    def _accept_unproven(self, run: Run, names: list[str], form: Mapping[str, str]) -> Step:
        why = text_of(form, "say why, the log keeps it with your name")
        lines = [
            Line(f"{named(names)}: no test fails without the work.", "warn"), Line(_STORY["accept"][2]), Line(flat(why), "head"),
        ]  # fmt: skip
        return Step(
            title=f"Accept {count(len(names), 'unproven story', 'unproven stories')} of {run.run_id}?", lines=lines, button="Accept", form=form,
            command=f"santiago accept{target(run.out_dir)} --unproven --why {quote(why)}", agreed="accept",
            do=lambda: self._begin(run, "accept", "--unproven", "--why", why),
        )  # fmt: skip

    # Processes

    def _begin(self, run: Run, act: str, *words: str) -> str:
        """Have a command carried out on a run."""
        words = (act, str(run.out_dir), *words, "--actor", self.who)
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
