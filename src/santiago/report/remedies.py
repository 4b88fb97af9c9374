"""What to type next after a run that did not succeed: each command with what it does."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING

from santiago.app.changes import is_document_changed
from santiago.app.finding import target
from santiago.app.loading import load
from santiago.app.paths import near
from santiago.app.publishing import MOST_FILES, Conflict, conflict_with
from santiago.app.shortage import unchecked
from santiago.artifacts.names import PLAN
from santiago.contract.answers import JUDGED, NEEDS_TEXT, words_of
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import MEANINGS, Reason
from santiago.executor.budget import Budget
from santiago.executor.selection import needed
from santiago.executor.tally import is_finished
from santiago.report.asking import asked, put_off
from santiago.report.endings import is_the_agents
from santiago.report.failure import Report, report_of
from santiago.report.story_status import lacking, named
from santiago.util.text import flat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.app.loading import Run
    from santiago.contract.policy import Agent
    from santiago.contract.state import Question, RunState

Rows = list[tuple[str, str]]
_BUDGETS = frozenset({Reason.ATTEMPT_BUDGET_EXHAUSTED, Reason.RUN_TIMEOUT, Reason.COST_BUDGET_EXHAUSTED})


_ASKED = frozenset(
    {
        Reason.AGENT_ASKED,
        Reason.CHANGED_EXPECTATION,
        Reason.DOUBTED,
        Reason.NEEDS_USER_CONFIRMATION,
        Reason.UNPROVEN,
    }
)
"""A person's answer lets the run go on."""


def next_commands(report: Report) -> list[str]:
    """Return the next commands. The answer to an open question comes first."""
    state, folder, needing = report.state, target(report.out_dir), report.needing()
    rows = answers(state, report.out_dir)
    rows += _on_unproven(state, report.out_dir) if is_finished(state) else []
    for story in needing[:1]:
        if attempts := state.stories[story.id].attempts:
            rows.append((f"santiago show{folder} {story.id} --attempt {attempts}", "all of that attempt"))
    rows += _remedies(report)
    pending = [one.id for one in state.stories.values() if one.phase is StoryPhase.PLANNED and not one.skipped]
    if pending and needing and not report.run_is_spent():
        named_run = f" --run{folder}" if folder else ""
        rows.append((f"santiago explain {pending[0]}{named_run}", "what it waits for"))
    rows += _on_unproven(state, report.out_dir)[:1] if not is_finished(state) else []
    return listed(rows)


def after_rest(report: Report) -> Rows:
    """Return the commands that take a run at rest further, the best first: answers, a person's word, then the remedy."""
    state, out_dir = report.state, report.out_dir
    return [*answers(state, out_dir), *_on_unproven(state, out_dir), *_remedies(report)]


def _on_unproven(state: RunState, out_dir: Path) -> Rows:
    """Return the command that takes all work which no test shows, and those that have one story worked on again."""
    waiting = [one for one in asked(state, out_dir)[0] if one.kind == "unproven"]
    waiting.sort(key=lambda one: state.stories[one.story or ""].index)
    if not waiting:
        return []
    folder, first = target(out_dir), waiting[0]
    which = named([one.story or "" for one in waiting])
    return [
        (f'santiago accept{folder} --unproven --why "…"', f"take {which} as done, on your word"),
        *_again(folder, first),
    ]


def _again(folder: str, question: Question) -> Rows:
    return [
        (f"santiago answer{folder} {question.id} retry", f"or have one more attempt add the test for {question.story}"),
        (f'santiago answer{folder} {question.id} change --text "…"', "or have its work changed by what you say"),
    ]


def after_story(run: Run, story: str) -> Rows:
    """Return the commands that help a story which needs a person. There are none while its run is running."""
    report, latest = report_of(run), run.history.of(story)[-1:]
    if run.state.stories[story].is_unproven and not run.worker:
        return _for_unproven(run, story)
    is_needing = story in [one.id for one in report.needing()]
    if run.worker or not is_needing or any(one.own_work for one in latest):  # whoever brought it knows how to go on
        return []
    return [*answers(run.state, run.out_dir), *_remedies(report)]


def _for_unproven(run: Run, story: str) -> Rows:
    """Return the commands that decide on one story whose work no test shows."""
    folder = target(run.out_dir)
    waiting = [one for one in asked(run.state, run.out_dir)[0] if one.kind == "unproven" and one.story == story]
    accept = (f'santiago accept{folder} {story} --why "…"', "take it as done, on your word")
    again = [row for one in waiting for row in _again(folder, one)]
    return [accept, *again, *_after_questions(report_of(run))[-1:]] if again else [accept]


def answers(state: RunState, out_dir: Path) -> Rows:
    """Return the commands that answer the first few open questions. Unproven work comes last, all of it together."""
    unanswered = [one for one in asked(state, out_dir)[0] if one.kind != "unproven"]
    folder = target(out_dir) if unanswered else ""
    return [row for one in unanswered[:3] for row in _answers(folder, state, one)]


def _answers(folder: str, state: RunState, question: Question) -> Rows:
    if question.kind == "agent":
        return [(f'santiago answer{folder} {question.id} "YOUR ANSWER"', "the answer goes into the next attempt")]
    if question.kind not in JUDGED:
        words = {
            word: does for word, does in words_of(state, question).items() if word != "stop"
        }  # the run has already stopped
        rows = [(f"santiago answer{folder} {question.id} {given(word)}", does) for word, does in words.items()]
        look = [(f"santiago show{folder} {question.story}", "the plan, or the work, that you are asked about")]
        return [*(look if question.kind in ("detail", "result") else []), *rows]
    return [
        (f"santiago answer{folder} {question.id} accept", "take the work as it is"),
        (f'santiago answer{folder} {question.id} refuse --text "…"', "have it done again, with your words in the next attempt"),
    ]  # fmt: skip


def given(word: str) -> str:
    """Return a word as it is typed in an answer. Words that need a text are shown with `--text`."""
    return f'{word} --text "…"' if word in NEEDS_TEXT else word


def listed(rows: Rows) -> list[str]:
    """Return commands, each with a comment on what it does, so that all lines can be pasted into a shell."""
    size = max((len(command) for command, _ in rows), default=0)
    return [f"{'next:' if at == 0 else '     '} {command:{size}}   # {why}" for at, (command, why) in enumerate(rows)]


def resume(report: Report, more: str = "") -> str:
    """Return the command that continues the run like its last start: with those flags that the run did not store."""
    jobs = report.history.start.get("jobs", 0)
    beside = [f"--jobs {jobs}"] if jobs and jobs != report.run_input.policy.jobs else []
    engine = report.history.start.get("engine_options", "")
    flags = [engine, *beside, *_policy_flags(report), *_agent_flags(report, more), *_scope_flags(report)]
    return " ".join(filter(None, (f"santiago resume{target(report.out_dir)}", more, *flags)))


def _policy_flags(report: Report) -> list[str]:
    was, now = report.frozen.policy if report.frozen else report.run_input.policy, report.run_input.policy
    told = {
        f"--gate {now.gate}": now.gate != was.gate,
        "--keep-going": now.keep_going != was.keep_going,
        "--assume-external": now.assume_external != was.assume_external,
        f"--sandbox {now.sandbox}": now.sandbox != was.sandbox,
        f"--changed-tests {now.changed_tests}": now.changed_tests != was.changed_tests,
        f"--doubts {now.doubts}": now.doubts != was.doubts,
        f"--unproven {now.unproven}": now.unproven != was.unproven,
        f"--tests-first {quote(now.tests_first)}": now.tests_first != was.tests_first,
    }
    return [flag for flag, is_new in told.items() if is_new]


def _agent_flags(report: Report, more: str) -> list[str]:
    """Return the flags that name this start's agent if it is not the run's own. If `more` names an agent, that one wins."""
    was, now = report.frozen.agent if report.frozen else report.run_input.agent, report.run_input.agent
    if now == was or "--agent" in more:
        return []
    other = now != replace(was, model_hint=now.model_hint)
    named = [f"--agent {quote(_agent_name(now))}"] if other else []
    return [*named, *([f"--model {quote(now.model_hint)}"] if now.model_hint and "--model" not in more else [])]


def _agent_name(agent: Agent) -> str:
    first = "scripted" if agent.mode == "scripted" else join(agent.command or ()) or agent.profile or ""
    return ",".join(filter(None, (first, *agent.fallback)))


def _scope_flags(report: Report) -> list[str]:
    """Return the flags that name the chunks or stories of this start, if it ended before they were finished."""
    state, scope = report.state, report.scope
    left = [story for story in state.stories.values() if scope.allows(story) and not story.satisfied]
    if not left or (state.phase is RunPhase.PAUSED and not state.reason):
        return []
    places = [at for at, label in enumerate(state.chunks, 1) if label in (scope.chunks or ())]
    chunks = [f"--chunks {places[0]}..{places[-1]}" if len(places) > 1 else f"--chunks {places[0]}"] if places else []
    return [*chunks, *(f"--only {story.id}" for story in left if scope.stories)]


def beyond_scope(report: Report) -> Rows:
    """Return the command that also takes what the chosen stories wait for; none if they wait for nothing."""
    state, chosen = report.state, report.scope.stories
    if not chosen or state.phase is not RunPhase.PAUSED or state.reason:
        return []
    wanted = needed(state, chosen)
    if set(wanted) <= chosen:
        return []
    flags, which = " ".join(f"--only {name}" for name in wanted), named([name for name in wanted if name in chosen])
    return [(resume(report, flags), f"take what {which} waits for as well")]


def _remedies(report: Report) -> Rows:
    again, reason = resume(report), report.state.reason
    match reason:
        case Reason.ATTEMPT_BUDGET_EXHAUSTED:
            return [_more_attempts(report)]
        case Reason.AGENT_RATE_LIMITED:
            return [
                (again, "go on when the limit is over"),
                (resume(report, "--agent NAME"), "go on with another agent"),
            ]
        case Reason.AGENT_NOT_SIGNED_IN:
            return [("santiago doctor --online", "does the agent answer now?"), (again, "go on once it does")]
        case Reason.USAGE_UNKNOWN:
            more = "--add-cost 5" if report.run_input.limits.run_max_cost_usd is not None else "--add-tokens 100000"
            return [(resume(report, more), "accept what is unknown so far, and go on")]
        case Reason.RUN_TIMEOUT | Reason.COST_BUDGET_EXHAUSTED:
            more = "--add-minutes 60" if reason is Reason.RUN_TIMEOUT else _more(report)
            return [(resume(report, more), "go on with more of it")]
        case Reason.RUN_VERIFICATION_FAILED:
            return [
                (f"git switch {report.state.branch}", "mend it there, commit, switch back"),
                (again, "run the checks again on its head"),
            ]
        case Reason.VERIFICATION_UNRUNNABLE:
            return _to_run_checks(report, again)
        case Reason.NOTHING_VERIFIED if not report.state.counted:
            return [
                (
                    f'santiago run {quote(report.plan.source.path)} --new --verify "COMMAND"',
                    "start anew with a check that notices broken code",
                )
            ]
        case Reason.BLOCKED_DEPENDENCY:
            return [_past_dependency(report)]
        case _ if reason in _ASKED:
            return _after_questions(report)
        case None | Reason.INTERRUPTED:
            return [*beyond_scope(report), (again, "go on")]
        case _:
            more = "--model NAME" if reason is Reason.AGENT_MODEL_NOT_FOUND else ""
            return [(resume(report, more), "go on" if is_the_agents(reason) else MEANINGS[reason].hint)]


def _to_run_checks(report: Report, again: str) -> Rows:
    """Return the commands that help if a check could not start, or if no checkout could be set up."""
    anew = f"santiago run {quote(report.plan.source.path)} --new"
    latest = [one for story in report.needing()[:1] for one in report.history.of(story.id)[-1:]]
    end = report.history.end
    unready = "[workspace] setup" in end.get("message", "") or any(one.status == "voided" for one in latest)
    # A run keeps its settings and the commit that it began on.
    unset = bool(end.get("settings")) or "git add" in end.get("hint", "")
    if not (unready or unset):
        anew = f'{anew} --verify "COMMAND"'
        return [(again, "go on once what the check needs is installed"), (anew, "or start anew with another check")]
    agent, checks = report.run_input.agent, report.run_input.verification.story_commands
    flags = [
        ("--agent", _agent_name(agent)),
        ("--playbook", agent.playbook),
        *(("--verify", check) for check in checks),
    ]
    anew = " ".join([anew, *(f"{flag} {quote(value)}" for flag, value in flags if value)])
    if unset:
        return [(anew, "begin again when that is done")]
    return [(again, "go on once the set-up works here"), (anew, "or start anew with another [workspace] setup")]


def _after_questions(report: Report) -> Rows:
    """Return the commands for a run whose agents asked: it goes on with answers. Deferred questions need a new decision."""
    unanswered, answered = asked(report.state, report.out_dir)
    stories, folder = report.state.stories, target(report.out_dir)
    later = [story.id for story in report.needing() if put_off(report.state, stories[story.id])][:1]
    rows: Rows = []
    for name in later:
        rows.append((f'santiago change{folder} {name} --text "YOUR ANSWER"', "it was deferred; answer it now"))
        rows.append((f'santiago skip{folder} {name} --why "YOUR REASON"', "or leave it out"))
    why = "go on with the answer" if answered else "go on once it is answered" if unanswered else "go on"
    return [*rows, (resume(report), f"try {later[0]} again, with what was said since" if later else why)]


def _past_dependency(report: Report) -> tuple[str, str]:
    """Return the command that goes on past a missing dependency, and names one that the document does not define."""
    found = [lacking(story, report.state.stories[story.id]) for story in report.needing()]
    if names := ", ".join(dict.fromkeys(filter(None, found))):
        return resume(report, "--assume-external"), f"go on, and assume that {flat(names)} is there"
    return resume(report), MEANINGS[Reason.BLOCKED_DEPENDENCY].hint


def _more_attempts(report: Report) -> tuple[str, str]:
    """Return the command that grants more after a run's attempts, or a story's attempts or minutes, are used up."""
    needing = [report.state.stories[story.id] for story in report.needing()]
    if not needing:
        return resume(report), "go on without the skipped stories"
    if report.run_is_spent():
        # The number is added to each story that has no attempts left, and to the run.
        each = -(-report.left() // len(needing))
        return resume(report, f"--add-attempts {each}"), "go on with an attempt for each story that is left"
    names = ", ".join(story.id for story in needing[:4])
    budget = Budget(report.run_input.limits, report.state)
    late = any(budget.story_ms_left(story) <= 0 for story in needing)
    # If attempts and minutes are both used up, granting only one would not help.
    tried = not late or any(story.counted >= budget.attempts_of(story) for story in needing)
    more = " ".join([*(["--add-attempts 2"] if tried else []), *(["--add-minutes 30"] if late else [])])
    return resume(report, more), f"retry {names} with the critique, then go on"


@contextmanager
def granting(out_dir: Path) -> Iterator[None]:
    """Add the command that helps to an error about a run that cannot go on: for more budget, or for a check."""
    try:
        yield
    except SantiagoError as error:
        if error.reason not in (*_BUDGETS, Reason.NOTHING_VERIFIED):
            raise
        run = load(out_dir)
        if error.reason is Reason.NOTHING_VERIFIED:
            error.hint = f"A run keeps the checks that it was planned with; start anew: `{anew(run)}`."
            raise
        (command, _), *_ = _remedies(report_of(run))
        error.hint = f"`{command}` grants more; `santiago skip{target(out_dir)} STORY --why …` leaves a story out."
        raise


def taking_over(report: Report) -> Rows:
    """Return the commands that take over the work of a finished run, also where it conflicts with the user's branch."""
    found, merge = conflict_with(Path.cwd(), report.state.branch or "HEAD"), f"git merge {report.state.branch}"
    if found.under_way:
        return resolving(found)
    if not found.files:
        review = f"santiago pr{target(report.out_dir)}"
        return [(merge, "take the work over"), (review, "or ask for it to be reviewed and merged")]
    does = (merge, f"take the work over, and resolve the conflict in {found}")
    document = near(Path(report.run_input.repo_path) / report.plan.source.path)
    anew = (f"santiago run {quote(document)} --new", "or have its stories done again, on your branch as it is now")
    return [does] if report.plan.source.is_drafted else [does, anew]


def resolving(found: Conflict) -> Rows:
    """Return the commands that end a merge which stopped at a conflict."""
    files = join(found.files) if len(found.files) <= MOST_FILES else "-u"
    return [
        (f"git add {files} && git commit", f"once you have resolved the conflict in {found}"),
        ("git merge --abort", "or give the merge up"),
    ]


def taking_in(run: Run) -> str:
    """Return the command that makes a new run with what changed, and keeps the finished work where it can."""
    document = quote(near(Path(run.run_input.repo_path) / run.run_input.prd_path))
    if not run.plan.source.is_drafted:
        return f"santiago rebase {run.run_id} {document}"
    if is_document_changed(run):  # only agents can plan it, since the compiler may find no steps in it
        return f"santiago plan --with AGENT {document}"
    return f"santiago rebase {run.run_id} {quote(near(run.out_dir / PLAN))}"


def beginning(run: Run) -> tuple[str, str]:
    """Return the command that begins a plan which was never started, and what it does."""
    if unchecked(run.plan.stories, run.run_input):
        return anew(run), "begin anew with a check; this plan has none"
    return f"santiago resume {quote(near(run.out_dir))}", "begin"


def anew(run: Run) -> str:
    """Return the command that plans and runs the document again, with a check."""
    repo, path = Path(run.run_input.repo_path), run.plan.source.path
    return f'santiago run {quote(near(repo / path) if repo.is_absolute() else path)} --verify "CMD"'


def _more(report: Report) -> str:
    """Return the flags that grant more of what is too little for another attempt: tokens, money, or both."""
    budget = Budget(report.run_input.limits, report.state)
    given = (("--add-tokens", budget.tokens, 100_000, 1), ("--add-cost", budget.money, 5_000_000, 1_000_000))
    gone = [
        f"{words} {max(1, -(-purse.lacking(0) // step)) * step // unit}"
        for words, purse, step, unit in given
        if purse is not None and not purse.admits(0)
    ]
    return " ".join(gone) or "--add-cost 5"
