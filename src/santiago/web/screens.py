"""The screens: for an address below the path, what its page shows, as parts that are made anew when something has changed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from santiago.app.finding import target
from santiago.app.planning.planning_sessions import open_here
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.record import record
from santiago.executor.budget import Budget
from santiago.executor.tally import summary
from santiago.report import spending
from santiago.report.asking import answers_left, asked
from santiago.report.board_pages import age, awaited, for_people, standing, tone_of
from santiago.report.board_pages import headline as board_headline
from santiago.report.board_pages import word as board_word
from santiago.report.chunks import CURRENT, FAILED, rows_of
from santiago.report.evidence import AttemptEvidence, tidied
from santiago.report.forecast_page import rest_of
from santiago.report.handout import attempt_data, graph_of
from santiago.report.live_changes import changed_so_far
from santiago.report.marks import RUNS, UNPROVEN
from santiago.report.matrix import rows_of_story
from santiago.report.measures import ago, clock, limit
from santiago.report.page import Line
from santiago.report.question import REST, card, cards_of
from santiago.report.run_page import headline, pauses_now, subline
from santiago.report.run_status import needs_of, standing_of, word_of
from santiago.report.session_review import review_of
from santiago.report.story import page as story_page
from santiago.report.story_status import row_of
from santiago.report.timeline import timeline
from santiago.util.clock import SystemClock, moment
from santiago.util.text import flat, harmless
from santiago.web import board_acts
from santiago.web.followed import SHOWN
from santiago.web.rendering import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from santiago.app.loading import AttemptStory, Run
    from santiago.contract.plan import Story
    from santiago.contract.state import Question
    from santiago.report.chunks import ChunkRow
    from santiago.web.acts import Acts
    from santiago.web.followed import Followed, Runs

LOG_BLOCK = 200
"""Lines of an agent's log in one part of its page. Only the last part of a log grows."""
BOARD_TONES = {"OPEN": "busy", "DONE": "good", "NEEDS YOU": "warn", "STUCK": "bad"}
MOST_ROWS = 60
"""How many rows a timeline has on the page of a run. `santiago report` has all."""
OPEN_STORIES = 60
"""A plan with at most so many stories is shown unfolded."""
_FIRST = (FAILED, CURRENT, UNPROVEN)
"""Chunks in these states are unfolded."""


@record
class Screen:
    """What a page shows."""

    title: str
    crumbs: tuple[tuple[str, str], ...]
    """The pages above it: address and name."""
    make: Callable[[], Mapping[str, str]]
    """Makes its parts: id → HTML, in order."""
    command: str
    """The command that shows the same."""


class Screens:
    """Finds the screen of an address."""

    def __init__(self, runs: Runs, acts: Acts, shared: Mapping[str, Any]) -> None:
        self.runs, self.acts = runs, acts
        self.shared = shared
        """What all templates are given."""
        self._forecasts: dict[str, tuple[int, str]] = {}
        """Run → how many attempts had ended, and what was expected then."""
        self._simulating = ThreadPoolExecutor(1)

    def find(self, path: str, query: Mapping[str, str]) -> Screen:
        """Return the screen of an address; raise if there is none."""
        match path.strip("/").split("/"):
            case [""]:
                return Screen(title="", crumbs=(), make=self._home, command="santiago runs")
            case ["runs", run]:
                return self._run(self.runs.find(run), query.get("filter", ""), query.get("open", ""))
            case ["runs", run, "questions", question]:
                return self._question(self.runs.find(run), question)
            case ["runs", run, "stories", story]:
                return self._story(self.runs.find(run), story)
            case ["runs", run, "stories", story, number] if number.isdecimal():
                return self._attempt(self.runs.find(run), story, int(number[:9]))
            case ["runs", run, "stories", story, number, "log"] if number.isdecimal():
                return self._log(self.runs.find(run), story, int(number[:9]), query.get("find", ""))
            case ["board"]:
                return Screen(
                    title="Board", crumbs=(("", "All runs"),), make=self._board, command="santiago board --plain"
                )
            case ["board", ticket]:
                return self._ticket(ticket)
        raise SantiagoError(Kind.USAGE, "there is no such page")

    def _parts(self, template: str, **values: Any) -> Any:
        """Return the macros of a template, each of which makes one kind of part."""
        return environment().get_template(template).make_module({**self.shared, **values})

    # The first page

    def _home(self) -> dict[str, str]:
        make, now = self._parts("home.html"), SystemClock().utc()
        rows, needs = [], [*self._sessions(), *self._tickets()]
        newest: set[str] = set()
        for known in self.runs.known()[:SHOWN]:
            try:
                followed = self.runs.of(known.out_dir)
                with followed.lock:
                    run = followed.run
                    needs += self._needs(run, now, is_newest=run.plan.source.path not in newest)
                    rows.append(_row(run, now))
                    newest.add(run.plan.source.path)
            except SantiagoError as error:
                rows.append(
                    {
                        "run_id": known.run_id,
                        "word": "damaged",
                        "tone": "bad",
                        "told": error.message,
                        "group": "finished",
                    }
                )
        by = {group: [row for row in rows if row["group"] == group] for group in ("running", "finished", "planned")}
        return {
            "needs": make.needs(needs),
            **{group: make.table(group, found) for group, found in by.items() if found or group == "running"},
            "news": make.news(len(needs), len(by["running"])),
        }

    def _needs(self, run: Run, now: str, *, is_newest: bool) -> Iterator[dict[str, Any]]:
        """Yield what of a run needs a person: its questions; of the newest run of a document also what else is in its way."""
        open_ones = asked(run.state, run.out_dir)[0]
        for one in open_ones:
            if one.kind != "unproven":
                yield {
                    "text": flat(one.text), "about": " ".join(filter(None, (one.id, run.run_id))), "age": _age(one.asked_at, now),
                    "to": f"runs/{run.run_id}/questions/{quote(one.id)}", "command": "",
                }  # fmt: skip
        told = {f"{one.id}: {flat(one.text)}" for one in open_ones}
        for text in needs_of(run) if is_newest else ():
            said, _, command = text.partition("   (")
            if said not in told:
                yield {
                    "text": said.replace("`", ""), "about": run.run_id, "age": _age(run.history.last, now), "to": f"runs/{run.run_id}",
                    "command": command.removesuffix(")"),
                }  # fmt: skip

    def _sessions(self) -> Iterator[dict[str, Any]]:
        for planning in open_here():
            for one in cards_of(review_of(planning, compared=False)):
                yield {
                    "text": flat(one.text), "about": f"plan {planning.session_id}", "age": "", "to": "",
                    "command": f"santiago review {planning.session_id}",
                }  # fmt: skip

    def _tickets(self) -> Iterator[dict[str, Any]]:
        if not board_acts.has_board():
            return
        data = board_acts.board()
        for name in awaited(data):
            ticket = board_acts.ticket_of(data, name)
            yield {
                "text": for_people(ticket["note"]) or flat(ticket["title"]), "about": f"ticket {name}",
                "age": f"{age(ticket['age_minutes'])} ago", "to": f"board/{quote(name)}", "command": "",
            }  # fmt: skip

    # A run

    def _run(self, followed: Followed, words: str, opened: str) -> Screen:
        run = followed.run

        def make() -> dict[str, str]:
            with followed.lock:
                return self._run_parts(followed, flat(words)[:100], opened)

        return Screen(
            title=flat(run.plan.title),
            crumbs=(("", "All runs"),),
            make=make,
            command=f"santiago status{target(run.out_dir)} --stories",
        )

    def _run_parts(self, followed: Followed, words: str, opened: str) -> dict[str, str]:
        run, now = followed.look(), SystemClock().utc()
        closed = self.acts.closed(run)
        make = self._parts("run.html", run=run, closed=closed, at=f"runs/{run.run_id}", target=target(run.out_dir))
        word, *first = headline(run, now)
        unproven = [one.id for one in run.state.stories.values() if one.is_unproven]
        parts = {
            "head": make.head(
                word, RUNS.get(word, ""), first, [*subline(run, pauses=pauses_now(run)), *self._forecast(run)]
            ),
            "needs": make.needs(list(self._needs(run, now, is_newest=True))),
            "acts": make.acts(word, pauses_now(run), unproven, self.acts.refused(run)),
            "filter": make.search(words),
        }
        rows = {row.label: row for row in rows_of(run, now)}
        stories = {
            label: list(found) for label, found in groupby(self._stories(followed, words), lambda one: one["chunk"])
        }
        whole = len(run.stories) <= OPEN_STORIES or bool(words)
        for label, row in rows.items():
            if stories.get(label) or not words:
                is_open = whole or row.mark in _FIRST or str(row.number) == opened
                parts[f"chunk-{row.number}"] = make.chunk(row, stories.get(label, []), is_open)
        if words and not stories:
            parts["nothing"] = make.nothing(words)
        parts |= {} if words else self._pictures(run, make, [one for found in stories.values() for one in found], rows)
        return {**parts, "news": make.news(word, first[0], len(asked(run.state, run.out_dir)[0]))}

    def _pictures(
        self, run: Run, make: Any, stories: list[dict[str, Any]], rows: Mapping[str, ChunkRow]
    ) -> dict[str, str]:
        """Return what shows the whole run at a glance: the graph of its plan, when attempts were under way, what they used."""
        chunks = [
            {"label": row.label, "number": row.number, "done": row.done, "of": row.stories, "mark": row.mark}
            for row in rows.values()
        ]
        found = {"graph": make.graph(graph_of(stories, chunks))}
        if run.state.attempts:
            found["timeline"] = make.timeline(timeline(run)[-MOST_ROWS:])
            found["spending"] = make.spending(spending.by_story(run))
        return found

    def _stories(self, followed: Followed, words: str) -> Iterator[dict[str, Any]]:
        run, sought = followed.run, words.lower().split()
        doing = followed.activity() if run.worker and run.state.running else None
        for planned in run.stories:
            story = run.state.stories[planned.id]
            row = row_of(run.state, story, run.run_input.limits, at_rest=run.worker is None, ahead=run.ahead)
            text = f"{planned.id} {planned.title} {row.mark.word}".lower()
            if not all(word in text for word in sought):
                continue
            live = doing.words(story.id, story.attempts, 90) if doing and story.id in run.state.running else ""
            yield {
                "id": planned.id, "title": flat(planned.title), "chunk": planned.chunk, "mark": row.mark, "tries": row.tries,
                "now": live or row.now.removeprefix(row.mark.word).strip(), "parent": story.parent, "after": planned.depends_on,
                "spent": ", ".join(spending.of_story(story)),
            }  # fmt: skip

    def _forecast(self, run: Run) -> list[str]:
        """Return what is left of a run, simulated anew in the background when an attempt has ended."""
        ended = run.state.attempts - len(run.state.running)
        known, told = self._forecasts.get(run.run_id, (-1, ""))
        if known != ended and run.resumable:
            self._forecasts[run.run_id] = ended, told
            self._simulating.submit(self._foresee, run.run_id, run.out_dir, ended)
        return [told] if told else []

    def _foresee(self, run_id: str, out_dir: Path, ended: int) -> None:
        self._forecasts[run_id] = ended, rest_of(out_dir)

    # A question

    def _question(self, followed: Followed, name: str) -> Screen:
        run = followed.run
        question = run.state.questions.get(name)
        if question is None:
            raise SantiagoError(Kind.USAGE, f"{run.run_id} has no question {name[:80]}")

        def make() -> dict[str, str]:
            with followed.lock:
                return self._question_parts(followed.look(), question)

        crumbs = (("", "All runs"), (f"runs/{run.run_id}", run.run_id))
        return Screen(title=name, crumbs=crumbs, make=make, command=f"santiago answer{target(run.out_dir)}")

    def _question_parts(self, run: Run, question: Question) -> dict[str, str]:
        one, now = card(run.plan, run.state, question, run.out_dir), SystemClock().utc()
        waits = question.id in answers_left(run.out_dir)
        answered = ""
        if question.answer is not None:
            answered = (
                f"It was answered: {flat(question.answer)}, by {flat(question.actor)}, {moment(question.answered_at)}."
            )
        elif waits:
            answered = "An answer was left; the run has not read it yet."
        words = [
            *one.words,
            *([(REST, f"{one.words[0][0]}, and the rest of chunk {flat(one.chunk)} too")] if one.chunk else []),
        ]
        make = self._parts("question.html", run=run, one=one, closed=self.acts.closed(run), at=f"runs/{run.run_id}")
        return {
            "question": make.question(harmless(one.text), _age(question.asked_at, now)),
            "state": make.state(answered, bool(run.worker)),
            "form": make.form(words, bool(answered)),
            "seen": make.seen(blocks(Line(harmless(line), verbatim=True) for line in one.lines)),
        }

    # A story

    def _story(self, followed: Followed, name: str) -> Screen:
        run = followed.run
        planned = _planned(run, name)

        def make() -> dict[str, str]:
            with followed.lock:
                return self._story_parts(followed, followed.look(), planned)

        return Screen(
            title=f"{planned.id} {flat(planned.title)}", crumbs=_above(run), make=make,
            command=f"santiago show{target(run.out_dir)} {planned.id}",
        )  # fmt: skip

    def _story_parts(self, followed: Followed, run: Run, planned: Story) -> dict[str, str]:
        story, tried = run.state.stories[planned.id], run.history.of(planned.id)
        make = self._of_story(run, planned)
        questions = [one for one in asked(run.state, run.out_dir)[0] if one.story == planned.id]
        doing = followed.activity()
        # Its first line is the title of the page, and its table the attempts, which follow in full.
        told = [line for line in story_page(run, planned, "story", doing, 0)[1:] if not line.verbatim]
        parts = {"standing": make.standing(blocks(told), questions)}
        if tried and tried[-1].status == "running":
            parts["agent"] = make.agent(blocks(story_page(run, planned, "agent", doing, 0)), tried[-1].number)
        parts["evidence"] = make.evidence(list(rows_of_story(run, planned, _criteria(run))))
        for one in reversed(tried):
            if one.status != "running":
                parts[f"attempt-{one.number}"] = make.attempt(attempt_data(run, planned, one), is_open=one is tried[-1])
        return {**parts, "acts": make.acts(open=not (story.skipped or story.satisfied))}

    def _of_story(self, run: Run, planned: Story) -> Any:
        at = f"runs/{run.run_id}/stories/{planned.id}"
        return self._parts("story.html", run=run, story=planned, closed=self.acts.closed(run), at=at)

    def _attempt(self, followed: Followed, name: str, number: int) -> Screen:
        """Return the page of one attempt, with what a running one has changed so far."""
        run, planned = followed.run, _planned(followed.run, name)
        one = _tried(run, planned, number)

        def make() -> dict[str, str]:
            with followed.lock:
                run, make = followed.look(), self._of_story(followed.run, planned)
                if one.status != "running":
                    return {"attempt": make.attempt(attempt_data(run, planned, one), is_open=True)}
                lines = story_page(run, planned, "agent", followed.activity(), 0)
            live = changed_so_far(run, planned.id, number) if run.worker else None
            lines += story_page(run, planned, "changes", followed.activity(), 0, live)
            return {"attempt": make.agent(blocks(lines), number)}

        return Screen(
            title=f"{planned.id}, attempt {number}", crumbs=_above(run, planned), make=make,
            command=f"santiago show{target(run.out_dir)} {planned.id} --attempt {number} --patch",
        )  # fmt: skip

    def _log(self, followed: Followed, name: str, number: int, words: str) -> Screen:
        """Return the page of what an agent printed: each line has an address, and only the last block of lines grows."""
        run, planned = followed.run, _planned(followed.run, name)
        evidence, sought = AttemptEvidence(run.out_dir, planned.id, _tried(run, planned, number).number), words.lower()

        def make() -> dict[str, str]:
            lines = evidence.log().splitlines()
            first = max(1, evidence.log_lines() - len(lines) + 1)
            numbered = [(at, tidied(line).expandtabs(4)) for at, line in enumerate(lines, start=first)]
            found = [(at, line) for at, line in numbered if sought in line.lower()]
            make = self._of_story(run, planned)
            parts = {"search": make.search(number, words, len(found), len(lines))}
            for block, of in groupby(found, lambda one: one[0] // LOG_BLOCK):
                parts[f"log-{block}"] = make.lines(f"log-{block}", list(of))
            return parts

        return Screen(
            title=f"log of {planned.id}, attempt {number}", crumbs=_above(run, planned, number), make=make,
            command=f"santiago show{target(run.out_dir)} {planned.id} --attempt {number} --log",
        )  # fmt: skip

    # The board

    def _board(self) -> dict[str, str]:
        data = board_acts.board()
        make = self._parts("board.html")
        queues = [
            {"name": name, "count": data["counts"][name], "tickets": [_on_board(one, data) for one in tickets]}
            for name, tickets in data["queues"].items()
        ]
        return {
            "head": make.head(board_word(data), BOARD_TONES.get(board_word(data), ""), board_headline(data)),
            "queues": make.queues(queues),
        }

    def _ticket(self, name: str) -> Screen:
        title = flat(board_acts.ticket_of(board_acts.board(), name)["title"])

        def make() -> dict[str, str]:
            data = board_acts.board()
            ticket = board_acts.ticket_of(data, name)
            make = self._parts("board.html", closed=self.acts.closed(None))
            told = board_acts.lines_of(data, ticket)[1:]
            return {"ticket": make.ticket(blocks(told), ticket), "acts": make.acts(ticket, board_acts.offered(ticket))}

        crumbs = (("", "All runs"), ("board", "Board"))
        return Screen(title=f"{name} {title}", crumbs=crumbs, make=make, command="santiago queue list")


def _on_board(ticket: dict[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    asking = ticket["id"] in data["verdict"]["user_confirmation_ids"]
    return {
        "id": ticket["id"],
        "title": flat(ticket["title"]),
        "told": standing(ticket),
        "tone": tone_of(ticket, asking=asking),
        "asks": asking,
    }


def _criteria(run: Run) -> dict[str, str]:
    return {one.id: one.text for requirement in run.plan.requirements for one in requirement.criteria}


def _planned(run: Run, name: str) -> Story:
    found = run.story(name)
    if found is None:
        raise SantiagoError(Kind.USAGE, f"{run.run_id} has no story {name[:60]}")
    return found


def _tried(run: Run, planned: Story, number: int) -> AttemptStory:
    found = next((one for one in run.history.of(planned.id) if one.number == number), None)
    if found is None:
        raise SantiagoError(Kind.USAGE, f"{planned.id} has no attempt {number}")
    return found


def _above(run: Run, planned: Story | None = None, number: int = 0) -> tuple[tuple[str, str], ...]:
    crumbs = [("", "All runs"), (f"runs/{run.run_id}", run.run_id)]
    if planned:
        crumbs.append((f"runs/{run.run_id}/stories/{planned.id}", planned.id))
    if planned and number:
        crumbs.append((f"runs/{run.run_id}/stories/{planned.id}/{number}", f"attempt {number}"))
    return tuple(crumbs)


def _row(run: Run, now: str) -> dict[str, Any]:
    """Return what the first page shows of a run."""
    word, found, budget = word_of(run), summary(run.plan, run.state), Budget(run.run_input.limits, run.state)
    group = "running" if run.worker else "planned" if not run.begun else "finished"
    return {
        "run_id": run.run_id, "title": flat(run.plan.title), "word": standing_of(run), "tone": RUNS.get(word, ""), "group": group,
        "done": found.completed, "of": len(run.plan.stories), "attempts": f"{run.state.counted} of {budget.run_attempts}",
        "time": f"{clock(run.used_ms(now))} of {limit(budget.run_ms)}",
        "money": ", ".join(spending.of_run(run.state, run.run_input.limits, brief=True)), "last": _age(run.history.last, now),
    }  # fmt: skip


def _age(utc: str, now: str) -> str:
    return ago(utc, now) if utc else ""


def blocks(lines: Iterable[Line]) -> list[dict[str, Any]]:
    """Return lines in groups that belong together: headings, facts with their labels, text, and what stands in columns."""
    found: list[dict[str, Any]] = []
    for kind, same in groupby(lines, _kind):
        if kind:
            found.append({"kind": kind, "lines": list(same)})
    return found


def _kind(line: Line) -> str:
    if not line.text:
        return ""
    if line.tone == "head" and not line.verbatim:
        return "head"
    if line.label:
        return "facts"
    return "columns" if line.verbatim or line.text.startswith("  ") else "text"
