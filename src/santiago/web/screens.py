"""The screens: for an address below the path, what its page shows, as parts that are made anew when something has changed."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import TYPE_CHECKING, Any

from santiago.app.finding import find_attempt, find_story, target
from santiago.app.planning.planning_sessions import sessions_here
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import SessionPhase
from santiago.contract.record import record
from santiago.process.redact import Redactor, to_hide
from santiago.report import board_pages, overview, session_pages, spending
from santiago.report.asking import answers_left, asked
from santiago.report.board_pages import age, awaited, for_people, standing, tone_of
from santiago.report.chunks import CURRENT, FAILED, rows_of
from santiago.report.evidence import AttemptEvidence, tidied
from santiago.report.forecast_page import rest_of
from santiago.report.handout import attempt_data, chunk_data, graph_of
from santiago.report.live_changes import changed_so_far
from santiago.report.marks import RUNS, UNPROVEN, Mark
from santiago.report.matrix import rows_of_story
from santiago.report.measures import ago
from santiago.report.outward import redacted
from santiago.report.page import Line
from santiago.report.question import card
from santiago.report.run_page import headline, pauses_now, subline
from santiago.report.session_review import TONES
from santiago.report.story import page as story_page
from santiago.report.story_status import row_of
from santiago.report.timeline import timeline
from santiago.util.clock import SystemClock, moment
from santiago.util.text import count, flat, harmless
from santiago.web.acting import board_acts, plan_acts
from santiago.web.followed import SHOWN, Plans
from santiago.web.rendering import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from santiago.app.loading import AttemptStory, Run
    from santiago.contract.plan import Story
    from santiago.contract.state import Question
    from santiago.report.following_session import FollowingSession
    from santiago.web.acting.acts import Acts
    from santiago.web.acting.step import Form
    from santiago.web.followed import Followed, Runs

    Parts = dict[str, str]
    """What a page shows: id → HTML, in order."""

LOG_BLOCK = 200
"""Lines of an agent's log in one part of its page. Only the last part of a log grows."""
MOST_PLANS = 10
"""How many of the newest planning sessions the first page lists."""
MOST_ROWS = 60
"""How many rows a timeline has on the page of a run. `santiago report` has all."""
OPEN_STORIES = 60
"""A plan with at most so many stories is shown unfolded."""
_FIRST = (FAILED, CURRENT, UNPROVEN)
"""Chunks in these states are unfolded."""
_CHANGED = {"new": Mark("+", "new", "good"), "changed": Mark("~", "changed", "warn"), "": None}
_GROUPS = {
    "running": "Running", "plans": "Being planned", "finished": "Finished and stopped", "planned": "Planned, never started",
}  # fmt: skip
"""The lists of the first page, in order, with their headings."""
_PLAN_PARTS = {
    "changes": "What this revision changed", "findings": "Findings, and what became of the document", "turns": "Turns",
}  # fmt: skip
"""Pages of a review that the page of a plan has as parts, with their headings."""
_LISTS = ("runs", "plans", "stories", "questions")
"""Parts of addresses that are no pages themselves."""


@record
class Screen:
    """What a page shows."""

    title: str
    make: Callable[[], Mapping[str, str]]
    """Makes its parts: id → HTML, in order."""
    command: str
    """The command that shows the same."""


def crumbs(path: str) -> list[tuple[str, str]]:
    """Return the pages above an address, each with its name."""
    parts = path.strip("/").split("/")
    above = [(at, parts[at - 1]) for at in range(1, len(parts)) if parts[at - 1] not in _LISTS]
    named = [("/".join(parts[:at]), {1: "Board", 5: f"attempt {name}"}.get(at, name)) for at, name in above]
    return [("", "All runs"), *named] if path else []


class Screens:
    """Finds the screen of an address."""

    def __init__(self, runs: Runs, acts: Acts, shared: Mapping[str, Any]) -> None:
        self.runs, self.plans, self.acts = runs, Plans(), acts
        self.shared = shared
        """What all templates are given."""
        self._forecasts: dict[str, tuple[int, str]] = {}
        """Run → how many attempts had ended, and what was expected then."""
        self._simulating = ThreadPoolExecutor(1)
        self._redactor = Redactor(to_hide(os.environ))

    def find(self, path: str, query: Mapping[str, str]) -> Screen:
        """Return the screen of an address; raise if there is none."""
        match path.strip("/").split("/"):
            case [""]:
                return Screen(title="", make=self._home, command="santiago runs")
            case ["board"]:
                return Screen(title="Board", make=self._board, command="santiago board --plain")
            case ["board", ticket]:
                return self._ticket(ticket)
            case ["plans", name, *rest]:
                return self._plan(name, rest, query)
            case ["runs", name, *rest]:
                return self._of_run(self.runs.find(name), rest, query)
        raise _nowhere()

    def _of_run(self, followed: Followed, rest: list[str], query: Mapping[str, str]) -> Screen:
        run, at = followed.run, target(followed.run.out_dir)

        def screen(title: str, make: Callable[[], Parts], command: str) -> Screen:
            def held() -> Parts:
                with followed.lock:
                    followed.look()
                    return make()

            return Screen(title=title, make=held, command=command)

        match rest:
            case []:
                words, opened = flat(query.get("filter", ""))[:100], query.get("open", "")
                return screen(
                    flat(run.plan.title), lambda: self._run(followed, words, opened), f"santiago status{at} --stories"
                )
            case ["questions", name] if name in run.state.questions:
                question = run.state.questions[name]
                return screen(name, lambda: self._question(run, question), f"santiago answer{at}")
            case ["stories", name, *more]:
                story = find_story(run, name)
                show = f"santiago show{at} {story.id}"
                if not more:
                    return screen(f"{story.id} {flat(story.title)}", lambda: self._story(followed, story), show)
                tried = find_attempt(run, story, _number(more[0]))
                title, show = f"{story.id}, attempt {tried.number}", f"{show} --attempt {tried.number}"
                if more[1:] == ["log"]:
                    return screen(
                        f"log of {title}", lambda: self._log(run, story, tried, query.get("find", "")), f"{show} --log"
                    )
                if not more[1:]:
                    return screen(title, lambda: self._attempt(followed, story, tried), f"{show} --patch")
        raise _nowhere()

    def _ui(self, at: str = "", **values: Any) -> Any:
        """Return the macros that make parts, for the page at an address."""
        return environment().get_template("pieces.html").make_module({**self.shared, "at": at, **values})

    # The first page

    def _home(self) -> Parts:
        ui, now = self._ui(), SystemClock().utc()
        needs, rows = list[dict[str, Any]](), list[dict[str, Any]]()
        for folder in sessions_here()[:MOST_PLANS]:
            try:
                following, lock = self.plans.find(folder.name, 0)
                with lock:
                    following.look()
                    needs += overview.plan_asks(following, now)
                    if following.planning.state.phase is not SessionPhase.FINALIZED:
                        rows.append(overview.plan_row(following, now))
            except SantiagoError as error:
                rows.append(overview.damaged(folder.name, error.message, ""))
        needs += self._tickets()
        newest: set[str] = set()
        for known in self.runs.known()[:SHOWN]:
            try:
                followed = self.runs.of(known.out_dir)
                with followed.lock:
                    run = followed.run
                    needs += overview.needs(run, now, is_newest=run.plan.source.path not in newest)
                    rows.append(overview.run_row(run, now))
                    newest.add(run.plan.source.path)
            except SantiagoError as error:
                rows.append(overview.damaged(known.run_id, error.message, f"santiago audit {known.run_id}"))
        by = {group: [row for row in rows if row["group"] == group] for group in _GROUPS}
        shown = {name: ui.rows(name, _GROUPS[name], found) for name, found in by.items() if found or name == "running"}
        news = f"{count(len(needs), 'thing')} for you; {count(len(by['running']), 'run')} under way."
        return {"needs": ui.needs(needs), **shown, "news": ui.note("news", news)}

    def _tickets(self) -> Iterator[dict[str, Any]]:
        data = board_acts.board() if board_acts.has_board() else {}
        for name in awaited(data) if data else ():
            ticket = board_acts.ticket_of(data, name)
            text = for_people(ticket["note"]) or flat(ticket["title"])
            yield overview.need(text, f"ticket {name}", f"{age(ticket['age_minutes'])} ago", f"board/{name}")

    # A run

    def _run(self, followed: Followed, words: str, opened: str) -> Parts:
        run, now = followed.run, SystemClock().utc()
        ui = self._ui(f"runs/{run.run_id}", closed=self.acts.closed(run))
        word, *first = headline(run, now)
        second = [run.run_id, *subline(run, pauses=pauses_now(run)), *self._forecast(run)]
        parts = {"head": ui.head(word, RUNS.get(word, ""), first, second)}
        if needs := list(overview.needs(run, now, is_newest=True)):
            parts["needs"] = ui.needs(needs)
        parts |= self._acts(ui, self.acts.of_run(run), run.out_dir, run.state.seq)
        parts["filter"] = ui.search("Stories with", "filter", words, "")
        rows, stories = rows_of(run, now), list(self._stories(followed, words))
        chunks = [
            {
                **chunk_data(row), "told": " · ".join(filter(None, (f"{row.done} of {row.stories} done", row.note))),
                "is_open": row.mark in _FIRST,
            }
            for row in rows
        ]  # fmt: skip
        parts |= _chunks(ui, chunks, stories, opened, everything=bool(words))
        if not words:
            parts["graph"] = ui.graph(graph_of(stories, chunks))
            if run.state.attempts:
                parts["timeline"] = ui.timeline(timeline(run)[-MOST_ROWS:])
                parts["spending"] = ui.spending(spending.by_story(run))
        questions = len(asked(run.state, run.out_dir)[0])
        return {**parts, "news": ui.note("news", f"{word}; {first[0]}; {count(questions, 'question')} for you")}

    def _stories(self, followed: Followed, words: str) -> Iterator[dict[str, Any]]:
        run, sought = followed.run, words.lower().split()
        doing = followed.doing if run.worker and run.state.running else None
        for planned in run.stories:
            story = run.state.stories[planned.id]
            row = row_of(run.state, story, run.run_input.limits, at_rest=run.worker is None, ahead=run.ahead)
            text = f"{planned.id} {planned.title} {row.mark.word}".lower()
            if all(word in text for word in sought):
                live = doing.words(story.id, story.attempts, 90) if doing and story.id in run.state.running else ""
                now = live or row.now.removeprefix(row.mark.word).strip()
                yield {
                    "id": planned.id, "title": flat(planned.title), "chunk": planned.chunk, "mark": row.mark, "parent": story.parent,
                    "after": planned.depends_on, "told": " · ".join(filter(None, (row.tries, now, ", ".join(spending.of_story(story))))),
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

    def _question(self, run: Run, question: Question) -> Parts:
        one, answered = card(run.plan, run.state, question, run.out_dir), ""
        since = ago(question.asked_at, SystemClock().utc()) if question.asked_at else ""
        if question.answer is not None:
            by = f"by {flat(question.actor)}, {moment(question.answered_at)}"
            answered = f"It was answered: {flat(question.answer)}, {by}."
        elif question.id in answers_left(run.out_dir):
            answered = "An answer was left; the run has not read it yet."
        ui = self._ui(f"runs/{run.run_id}", closed=self.acts.closed(run))
        parts = {
            "question": ui.question(one, since, answered, bool(run.worker)),
            "acts": ui.forms("Your answer", [self.acts.of_question(run, one, answered=bool(answered))]),
        }
        seen = [Line(harmless(line), verbatim=True) for line in one.lines]
        return {**parts, "seen": ui.told("seen", "What it is about", seen)} if seen else parts

    # A story

    def _story(self, followed: Followed, planned: Story) -> Parts:
        run, tried, doing = followed.run, followed.run.history.of(planned.id), followed.doing
        at = f"runs/{run.run_id}/stories/{planned.id}"
        ui = self._ui(at, closed=self.acts.closed(run))
        asks = [one for one in asked(run.state, run.out_dir)[0] if one.story == planned.id]
        links = [(f"runs/{run.run_id}/questions/{one.id}", f"{one.id} asks you: {flat(one.text)}") for one in asks]
        # Its first line is the title of the page, and its table the attempts, which follow in full.
        told = [line for line in story_page(run, planned, "story", doing, 0)[1:] if not line.verbatim]
        parts = {"standing": ui.told("standing", "How it stands", told, links)}
        if tried and tried[-1].status == "running":
            parts["agent"] = _live(ui, at, tried[-1], story_page(run, planned, "agent", doing, 0))
        parts["evidence"] = ui.evidence(list(rows_of_story(run, planned, run.plan.criteria)))
        for one in reversed(tried):
            if one.status != "running":
                parts[f"attempt-{one.number}"] = self._ended(ui, run, planned, one, is_open=one is tried[-1])
        return parts | self._acts(ui, self.acts.of_story(run, planned.id), run.out_dir, run.state.seq)

    def _attempt(self, followed: Followed, planned: Story, one: AttemptStory) -> Parts:
        """Return one attempt; of a running one also what it has changed so far."""
        run, at = followed.run, f"runs/{followed.run.run_id}/stories/{planned.id}"
        ui = self._ui(at)
        if one.status != "running":
            return {"attempt": self._ended(ui, run, planned, one, is_open=True)}
        lines = story_page(run, planned, "agent", followed.doing, 0)
        live = changed_so_far(run, planned.id, one.number) if run.worker else None
        lines += story_page(run, planned, "changes", followed.doing, 0, live)
        return {"agent": _live(ui, at, one, lines)}

    def _ended(self, ui: Any, run: Run, planned: Story, one: AttemptStory, *, is_open: bool) -> str:
        data = redacted(attempt_data(run, planned, one), self._redactor)
        return str(ui.attempt(data, f"runs/{run.run_id}/stories/{planned.id}/{one.number}", is_open=is_open))

    def _acts(self, ui: Any, forms: list[Form], folder: Path, seq: int) -> Parts:
        """Return what can be asked for, and why what was begun from a page did not start; nothing if there is neither."""
        refused = self.acts.refused(folder, seq)
        return {"acts": ui.forms("What you can do", forms, refused)} if forms or refused else {}

    def _log(self, run: Run, planned: Story, one: AttemptStory, words: str) -> Parts:
        """Return what an agent printed: each line has an address, and only the last block of lines grows."""
        evidence = AttemptEvidence(run.out_dir, planned.id, one.number)
        lines = evidence.log().splitlines()
        numbered = enumerate(lines, start=max(1, evidence.log_lines() - len(lines) + 1))
        tidy = ((number, tidied(line).expandtabs(4)) for number, line in numbered)
        found = [(number, line) for number, line in tidy if words.lower() in line.lower()]
        ui = self._ui(f"runs/{run.run_id}/stories/{planned.id}/{one.number}/log")
        note = f"{count(len(found), 'line')} of {len(lines)}" if words else count(len(lines), "line")
        parts = {"find": ui.search("Lines with", "find", words, note, follow=True)}
        for block, of in groupby(found, lambda line: line[0] // LOG_BLOCK):
            parts[f"log-{block}"] = ui.log(f"log-{block}", list(of))
        return parts

    # A plan that is not final

    def _plan(self, name: str, rest: list[str], query: Mapping[str, str]) -> Screen:
        following, lock = self.plans.find(name, _number(query.get("revision", "")))
        plan = following.review.plan
        story = next((one for one in plan.stories if rest == ["stories", one.id]), None) if plan else None
        if rest and story is None:
            raise _nowhere()

        def make() -> Parts:
            with lock:
                if following.look() or following.ask_worker() or following.review.run:
                    following.ask_run()
                if story is None:
                    return self._plan_parts(following, query.get("open", ""))
                lines = session_pages.page(following, "story", None, story)[1:]
                return {"standing": self._ui(f"plans/{name}").told("standing", "How it is planned", lines)}

        title = f"{story.id} {flat(story.title)}" if story else f"Plan: {flat(following.review.title)[:200]}"
        return Screen(title=title, make=make, command=f"santiago review {name} --plain")

    def _plan_parts(self, following: FollowingSession, opened: str) -> Parts:
        review, planning = following.review, following.planning
        query = f"revision={review.revision}" if following.earlier else ""
        ui = self._ui(f"plans/{review.session_id}", closed=self.acts.closed(None), query=query)
        latest = planning.state.revision
        word = f"{review.state}{f', revision {review.revision}' if review.revision else ''}"
        if following.earlier:
            word = f"revision {review.revision} of {latest}, to be read only"
        elif following.waiting and not review.worker:
            word = "answered; it has not gone on yet"
        first = review.counts()
        if review.plan:
            first.append(f"{len(session_pages.uncovered(review.plan))} requirements without a story")
        second = [review.session_id, review.spent, *([f"held by {flat(review.worker)}"] if review.worker else [])]
        parts = {"head": ui.head(word, TONES.get(review.state, "busy"), first or ["no plan yet"], second)}
        if review.run:
            links = [(f"runs/{review.run}", f"It is final. Its run: {review.run}, {following.ran}")]
            parts["run"] = ui.told("run", "What became of it", [], links)
        forms = plan_acts.PlanActs(following, self.acts.who, self.acts.began).forms()
        parts |= self._acts(ui, forms, following.folder, planning.state.seq)
        if latest > 1:
            parts["revisions"] = ui.revisions(latest, review.revision)
        shown = {
            part: ui.told(part, heading, session_pages.page(following, part, None, None)) for part, heading in _PLAN_PARTS.items()
        }  # fmt: skip
        if review.plan is None:
            return {**parts, "turns": shown["turns"]}
        stories = [
            {
                "id": one.id, "title": flat(one.title), "chunk": flat(one.chunk), "mark": _CHANGED[review.marks.get(one.id, "")], "parent": "",
                "told": ", ".join(one.depends_on),
            }
            for one in review.plan.stories
        ]  # fmt: skip
        chunks = [
            {
                "number": row.number, "label": flat(row.label), "mark": None, "is_open": bool(row.changed),
                "told": f"{count(len(row.stories), 'story', 'stories')}, {row.changed} changed",
            }
            for row in review.chunks
        ]  # fmt: skip
        parts |= {"changes": shown["changes"]} if latest > 1 else {}
        commands = session_pages.approved(review.plan, planning.run_input, "making it final")
        parts["commands"] = ui.told("commands", "Commands", commands)
        parts |= _chunks(ui, chunks, stories, opened)
        return {**parts, "findings": shown["findings"], "turns": shown["turns"]}

    # The board

    def _board(self) -> Parts:
        data, ui = board_acts.board(), self._ui()
        queues = [
            {"name": name, "count": data["counts"][name], "tickets": [_on_board(one, data) for one in tickets]}
            for name, tickets in data["queues"].items()
        ]
        word = board_pages.word(data)
        head = ui.head(word.lower(), board_pages.TONES.get(word, ""), board_pages.headline(data))
        return {"head": head, "queues": ui.queues(queues)}

    def _ticket(self, name: str) -> Screen:
        title = flat(board_acts.ticket_of(board_acts.board(), name)["title"])

        def make() -> Parts:
            data = board_acts.board()
            ticket, ui = board_acts.ticket_of(data, name), self._ui(closed=self.acts.closed(None))
            run, story = ticket["run"], ticket["story"]
            of = [(f"runs/{run}/stories/{story}", f"Story {story} of {run}")] if story else []
            told = ui.told("ticket", ticket["queue"], board_acts.lines_of(data, ticket)[1:], of, "asked")
            return {"ticket": told, "acts": ui.forms("What you can do", board_acts.forms(ticket, self.acts.who))}

        return Screen(title=f"{name} {title}", make=make, command="santiago queue list")


def _chunks(
    ui: Any, rows: list[dict[str, Any]], stories: list[dict[str, Any]], opened: str, *, everything: bool = False
) -> Parts:
    """Return the chunks with their stories: all of them unfolded in a small plan; with `everything`, only those that were found."""
    by = {label: list(found) for label, found in groupby(stories, lambda one: one["chunk"])}
    if everything and not by:
        return {"nothing": ui.note("nothing", "No story has all of these words.")}
    parts, whole = dict[str, str](), everything or len(stories) <= OPEN_STORIES
    for row in rows:
        if row["label"] in by or not everything:
            is_open = whole or row["is_open"] or str(row["number"]) == opened
            parts[f"chunk-{row['number']}"] = ui.chunk(row, by.get(row["label"], []), is_open)
    return parts


def _live(ui: Any, at: str, one: AttemptStory, lines: list[Line]) -> str:
    links = [(f"{at}/{one.number}/log", "What it prints, live"), (f"{at}/{one.number}", "What it has changed so far")]
    return str(ui.told("agent", "What its agent does", lines, links, "asked"))


def _on_board(ticket: dict[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    asks = ticket["id"] in data["verdict"]["user_confirmation_ids"]
    tone = tone_of(ticket, asking=asks)
    return {"id": ticket["id"], "title": flat(ticket["title"]), "told": standing(ticket), "tone": tone, "asks": asks}


def _nowhere() -> SantiagoError:
    return SantiagoError(Kind.USAGE, "there is no such page")


def _number(text: str) -> int:
    """Return a number of an address; 0 where it is none."""
    return int(text) if text.isdecimal() and len(text) < 9 else 0
