"""Beginning a planning session: its input is written before any agent is asked, and never changes."""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

from santiago.app.config import run_input_defaults
from santiago.app.start import agents
from santiago.app.start.agents import name_of, one_named, profile_of
from santiago.app.start.leaks import refuse_secrets
from santiago.artifacts import run_locations
from santiago.artifacts.files import read_text
from santiago.artifacts.lock import Lock
from santiago.artifacts.session_files import SessionFiles
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import Context, Event, EventKind
from santiago.contract.ids import first_free
from santiago.contract.phases import SessionPhase
from santiago.contract.plan import CONTRACT_VERSION
from santiago.contract.policy import Agent
from santiago.contract.record import record
from santiago.contract.session import Drafter, SessionInput, SizeWishes
from santiago.process.redact import Redactor, to_hide
from santiago.util.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from santiago.contract.policy import RunInput
    from santiago.contract.session import Artifact

LONGEST_TASK = 100_000


@record
class Wanted:
    """What a person wants planned, and by whom."""

    subject: str
    """A document's path, or a sentence."""
    agents: tuple[str, ...]
    worker: str | None = None
    """The agent that is to carry the plan out, where it is named."""
    model: str | None = None
    playbook: Path | None = None
    artifact: Artifact = "plan"
    output: str = ""
    size: SizeWishes = SizeWishes()
    checks: tuple[str, ...] = ()
    """Checks of every story."""


def by_settings(subject: str, root: Path) -> Wanted:
    """Return a wish that the agent of the settings plans; if they name none, the first one that can work here."""
    agent = run_input_defaults(root).agent
    if agent.mode == "scripted":
        return Wanted(subject=subject, agents=("scripted",), playbook=root / agent.playbook if agent.playbook else None)
    name = join(agent.command) if agent.command else agent.profile
    return Wanted(subject=subject, agents=(name,) if name else (), model=agent.model_hint)


def begin(wanted: Wanted, actor: str, source: Mapping[str, str]) -> Path:
    """Make a session's folder and the first line of its log; return the folder."""
    document = _document(wanted.subject)
    root = run_locations.find_root(document or Path.cwd())
    if root is None:
        hint = 'Make one: `git init && git add -A && git commit -m "Start"`.'
        raise SantiagoError(Kind.USAGE, "planning needs a git repository, and there is none here", hint=hint)
    text = read_text(document) if document else ""
    task = "" if document else _task(wanted.subject)
    for content in (text, task):
        refuse_secrets(content.encode(), run_locations.name_inside(document, root) if document else "the task")
    drafters = drafters_of(wanted, source)
    run_input = run_input_defaults(root)
    refuse_absent(drafters, run_input, source)
    clock = SystemClock()
    run_locations.keep_out_of_git(root / run_locations.SESSIONS.parts[0])
    sessions, stamp = root / run_locations.SESSIONS, re.sub("[-:]", "", clock.utc()[:19]).replace("T", "_")
    folder = sessions / first_free(f"p_{stamp}", lambda name: (sessions / name).exists(), "_")
    asked = SessionInput(
        contract_version=CONTRACT_VERSION,
        session_id=folder.name,
        artifact=wanted.artifact,
        task=task,
        document=run_locations.name_inside(document, root) if document else "",
        source=sha256(text.encode()).hexdigest() if document else "",
        output=wanted.output,
        drafters=drafters,
        size=wanted.size,
    )
    checks = replace(run_input.verification, story_commands=wanted.checks or run_input.verification.story_commands)
    run_input = replace(
        run_input,
        repo_path=str(root),
        prd_path=asked.document or (folder / "session-input.json").relative_to(root).as_posix(),
        verification=checks,
        agent=_worker(run_input.agent, drafters, wanted),
    )
    files = SessionFiles(folder, Redactor(to_hide(dict(source))), clock.utc)
    files.preflight()
    with Lock(folder, since=clock.utc()), files:
        digest = files.keep_asked(asked, run_input, text)
        files.start()
        created = Event(
            seq=1, timestamp=clock.utc(), run_id=folder.name, event=EventKind.SESSION_CREATED, actor=actor,
            phase=SessionPhase.DRAFTING, context=Context(input_digest=digest),
        )  # fmt: skip
        files.append([created])
    return folder


def is_sentence(subject: str) -> bool:
    """Tell whether a subject can only be a sentence, and so must be planned by agents."""
    return len(subject.split()) > 1 and _document(subject) is None


def _document(subject: str) -> Path | None:
    """Return the document that is meant; None where it is a sentence."""
    path = Path(subject)
    looks_like_one = len(subject.split()) == 1 and ("/" in subject or re.search(r"\.[a-z]{2,8}$", subject))
    try:
        if path.is_file():
            return run_locations.resolved(path)
    except OSError:  # too long for a file name
        return None
    if looks_like_one:
        raise SantiagoError(
            Kind.USAGE, f"there is no document {subject}", hint="Name one, or say in a sentence what you want."
        )
    return None


def _task(subject: str) -> str:
    task = subject.strip()
    if not task:
        raise SantiagoError(Kind.USAGE, "say what is to be planned", hint="A document, or a sentence in quotes.")
    if len(task) > LONGEST_TASK:
        raise SantiagoError(Kind.USAGE, f"the task has {len(task):,} characters", hint="Put it into a document.")
    return task


def refuse_absent(drafters: Sequence[Drafter], run_input: RunInput, source: Mapping[str, str]) -> None:
    """Raise if one of these agents cannot begin, so that no session is made that only fails."""
    limits = run_input.limits
    limits = replace(limits, run_max_tokens=limits.planning_max_tokens, run_max_cost_usd=limits.planning_max_cost_usd)
    for one in drafters:
        agents.refuse_absent(replace(run_input, agent=one.agent, limits=limits), source, lambda _: False)


def drafters_of(wanted: Wanted, source: Mapping[str, str]) -> tuple[Drafter, ...]:
    """Return the agents that take part; if none is named, the first one that can work here."""
    found: list[Drafter] = []
    for name in _names(wanted.agents) or ("",):
        agent = one_named(
            Agent(), name or None, wanted.playbook if not name or name == "scripted" else None, wanted.model
        )
        label = "scripted" if agent.mode == "scripted" else name_of(profile_of(agent, source))
        plain, taken = re.sub(r"[^A-Za-z0-9_-]+", "-", label).strip("-_")[:40], {one.label for one in found}
        found.append(Drafter(label=first_free(plain or "agent", taken.__contains__), agent=_fixed(agent)))
    return tuple(found)


def _worker(of_settings: Agent, drafters: Sequence[Drafter], wanted: Wanted) -> Agent:
    """Return the agent that will carry the plan out: the one that was named for it, that the settings name, or that drafts first."""
    if wanted.worker:
        return _fixed(agents.named(of_settings, wanted.worker, wanted.playbook, None))
    is_named = of_settings.profile or of_settings.command or of_settings.mode == "scripted"
    return of_settings if is_named else drafters[0].agent


def _fixed(agent: Agent) -> Agent:
    """Return an agent whose paths are valid from any folder."""
    return replace(agent, playbook=str(run_locations.resolved(Path(agent.playbook)))) if agent.playbook else agent


def _names(given: Sequence[str]) -> list[str]:
    """Return the names of the agents. A word may name several with commas between; a command line is always one agent."""
    found: list[str] = []
    for word in given:
        found += [word] if " " in word.strip() else [name.strip() for name in word.split(",") if name.strip()]
    return found
