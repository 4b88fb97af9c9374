"""The agents of a start: which profiles are meant, what each may see and write, whether it can begin, who takes over."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from santiago.agent import catalog, scripted
from santiago.agent.profile import ACP, FOR_ANY
from santiago.app.profiles import own_catalog
from santiago.artifacts.files import read_text
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import ENDED, RunPhase
from santiago.contract.policy import Agent
from santiago.contract.reasons import MEANINGS, OF_ONE_AGENT, Reason
from santiago.process.redact import secrets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from santiago.agent.catalog import Catalog
    from santiago.agent.profile import Profile
    from santiago.contract.policy import RunInput
    from santiago.contract.ports.agent import AgentBackend
    from santiago.contract.state import RunState


def one_named(agent: Agent, name: str | None, playbook: Path | None, model: str | None) -> Agent:
    """Return the agent's settings, changed by options of the command line."""
    if model:
        agent = replace(agent, model_hint=model)
    if name:
        agent = replace(agent, fallback=())  # the fallbacks were meant for the other agent
    if name == "scripted" or playbook is not None:
        return replace(agent, mode="scripted", playbook=str(playbook) if playbook else agent.playbook)
    if not name:
        return agent
    if name in FOR_ANY:
        hint = f"For instance --agent {ACP}'prog arg'." if name == "acp" else "For instance --agent 'prog arg'."
        raise SantiagoError(Kind.USAGE, "name the command line itself", hint=hint)
    if name.startswith(ACP):
        return replace(agent, mode="ralph_fresh", profile="acp", command=_words(name.removeprefix(ACP)))
    words = _words(name)
    if len(words) == 1 and "/" not in words[0] and (words[0] in own_catalog().names() or not shutil.which(words[0])):
        own_catalog().get(words[0])  # raises if no agent has this name
        return replace(agent, mode="ralph_fresh", profile=words[0], command=None)
    return replace(agent, mode="ralph_fresh", command=words, profile=None)


NOBODY = scripted.Scripted({})
"""Stands for the agent if a start needs none and none is installed."""
SAME = "same"
"""Stands for the run's own agent as the one that writes the tests."""


def lasting(name: str) -> str:
    """Return the name or command line of an agent, with paths that are valid from any folder."""
    command = one_named(Agent(), name, None, None).command if name != SAME else None
    return shlex.join(command) if command else name


def for_tests(run_input: RunInput) -> Agent | None:
    """Return the agent that writes tests first, if it is not the run's own agent."""
    name = run_input.policy.tests_first
    return one_named(replace(run_input.agent, model_hint=None), name, None, None) if name not in ("", SAME) else None


def _words(line: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise SantiagoError(Kind.USAGE, f"--agent is no command line: {error}", hint="Close the quotes.") from None
    if not words or not words[0]:
        raise SantiagoError(Kind.USAGE, "--agent names nothing", hint="Name an agent, or a command line.")
    own = Path.cwd() / words[0]
    if "/" not in words[0] or not (own.exists() or _leads_out(words[0])):
        return words
    # A path is relative to the current folder, but the agent starts in a checkout, which has no untracked script. `..` is
    # resolved, since the sandbox has only the folders on the way to the program. Its own name stays, as it may depend on it.
    return str(own.parent.resolve() / own.name), *words[1:]


def _leads_out(path: str) -> bool:
    return os.path.normpath(path).split("/")[0] == ".."


def profile_of(agent: Agent, source: Mapping[str, str]) -> Profile:
    """Return the profile that settings mean: the named one, the one for any program, or the first that can work here."""
    own = own_catalog()
    if agent.profile:
        profile = own.get(agent.profile)
        if agent.command:
            profile = replace(profile, start=replace(profile.start, argv=agent.command))
        return _as_known(profile, own) if profile.name == "acp" else profile
    if agent.command:
        profile = own.get("command")
        return replace(profile, start=replace(profile.start, argv=agent.command))
    ready = own.first_ready(source)
    if ready is None:
        raise _none_ready(own, source)
    return ready.profile


def _as_known(profile: Profile, own: Catalog) -> Profile:
    """Return the profile of an agent that speaks ACP, with the settings and the sign-in of the known agent that its program names."""
    program = Path(profile.start.argv[0]).name if profile.start.argv else ""
    known = next((own.get(name) for name in own.names() if name in program.split("-")), None)
    if known is None:
        return profile
    if "tokens" not in known.reports_over_acp:  # some tell those of their last call alone
        profile = replace(profile, on=tuple(replace(rule, tokens=()) for rule in profile.on))
    return replace(
        profile, start=replace(profile.start, env=known.start.env), reports=known.reports_over_acp, needs=known.needs,
        sign_in=known.sign_in, install=known.install, fault=profile.fault + known.fault,
    )  # fmt: skip


def credentials(agent: Agent, source: Mapping[str, str]) -> tuple[str, ...]:
    """Return the secrets in the files with which the agent is signed in, so that its output can be redacted."""
    if agent.mode == "scripted":
        return ()
    try:
        profile = profile_of(agent, source)
    except SantiagoError:
        return ()  # reported later, when the agent is needed
    return tuple(value for path in catalog.expanded(profile.sign_in.files, source) for value in secrets_of(path))


def passed_over(agent: Agent) -> list[str]:
    """Return messages on the user's profiles that are left out because they are broken."""
    return [] if agent.profile or agent.command else [f"a profile is left out: {one}" for one in own_catalog().broken()]


def _none_ready(own: Catalog, source: Mapping[str, str]) -> SantiagoError:
    if broken := own.broken():
        return broken[0].error  # it may be the profile that the user wants
    installed = [one for one in own.availabilities(source) if one.program]
    if not installed:
        message, hint = (
            "no agent is named, and none is installed",
            "Install one (`santiago doctor` lists those that it knows), or name any program: --agent 'prog arg', or command under [agent] in santiago.toml.",
        )
    else:
        commands = " or ".join(f"`{one.profile.sign_in.command}`" for one in installed[:3])
        names = ", ".join(one.profile.name for one in installed)
        message, hint = (
            f"no agent is named, and none of {names} is signed in",
            f"Run {commands}, or name one with --agent.",
        )
    return SantiagoError(Kind.BLOCKED, message, hint=hint, reason=Reason.AGENT_NOT_SIGNED_IN)


def name_of(profile: Profile) -> str:
    """Return a run's name for its agent."""
    if profile.name not in FOR_ANY or not profile.start.argv:
        return profile.name
    return f"{ACP if profile.protocol else ''}{Path(profile.start.argv[0]).name}"


def refuse_early(
    profile: Profile, run_input: RunInput, source: Mapping[str, str], lacks: Callable[[str], bool]
) -> None:
    """Raise before the first attempt if no attempt can succeed, or if its usage cannot be limited.

    `lacks` tells whether a file will be missing in a checkout.
    """
    program = profile.start.argv[0] if profile.start.argv else "?"
    if missing := _missing(program, source, lacks):
        raise SantiagoError(
            Kind.TRANSIENT,
            f"the agent cannot be started: {missing}"
            if profile.name in FOR_ANY
            else f"{profile.title or profile.name} is not installed: {missing}",
            hint=f"Install it: `{profile.install}`."
            if profile.install
            else "Correct the command, or name another with --agent; `santiago doctor` lists those that are here.",
            reason=Reason.AGENT_UNAVAILABLE,
        )
    if profile.protocol == "acp" and find_spec("acp") is None:
        hint = "Install it: `pip install 'santiago[acp]'`."
        message = "the library that speaks ACP is missing"
        raise SantiagoError(Kind.TRANSIENT, message, hint=hint, reason=Reason.AGENT_UNAVAILABLE)
    limits = run_input.limits
    wanted = {"tokens": limits.run_max_tokens, "cost": limits.run_max_cost_usd}
    unknown = [what for what, limit in wanted.items() if limit is not None and what not in profile.reports]
    if unknown and run_input.policy.unknown_usage == "block":
        raise SantiagoError(
            Kind.BLOCKED,
            f"there is a limit on {' and '.join(unknown)}, but {name_of(profile)} does not report it",
            hint='Remove the limit, use an agent that reports it, or set unknown_usage = "allow" under [policy].',
            reason=Reason.USAGE_UNKNOWN,
        )


def refuse_absent(run_input: RunInput, source: Mapping[str, str], lacks: Callable[[str], bool]) -> str:
    """Raise if the agent of the settings cannot begin; return its name."""
    if run_input.agent.mode == "scripted":
        playing(run_input)
        return "scripted"
    profile = profile_of(run_input.agent, source)
    refuse_early(profile, run_input, source, lacks)
    return name_of(profile)


def _missing(program: str, source: Mapping[str, str], lacks: Callable[[str], bool]) -> str:
    """Return why a program cannot be started; empty if it can. A relative path starts at the attempt's checkout."""
    if "/" not in program:
        return "" if catalog.program_of(program, source) else f"there is no {program} on PATH"
    if program.startswith("/"):
        there = Path(program)
        if there.is_file():
            return "" if os.access(program, os.X_OK) else f"{program} is not executable"
        return f"{program} {'is a folder' if there.is_dir() else 'does not exist'}"
    if _leads_out(program):
        return f"{program} leads out of the checkout in which it would be started; name its whole path"
    return f"{program} is not here, and not in the last commit" if lacks(program) else ""


def playing(run_input: RunInput) -> AgentBackend:
    """Return the scripted agent; raise if it has no usable playbook."""
    if not run_input.agent.playbook:
        hint = "Name one with `--playbook FILE` of `santiago run`, or as `playbook` under [agent] in santiago.toml."
        raise SantiagoError(Kind.USAGE, "the scripted agent has no playbook", hint=hint, reason=Reason.INVALID_INPUT)
    path = Path(run_input.repo_path) / run_input.agent.playbook
    return scripted.Scripted(*scripted.load(read_text(path), str(path)))


_CANNOT_BEGIN = frozenset({Reason.AGENT_UNAVAILABLE, Reason.AGENT_NOT_SIGNED_IN, Reason.USAGE_UNKNOWN})


def named(agent: Agent, names: str | None, playbook: Path | None, model: str | None) -> Agent:
    """Return the agent's settings, changed by the command line: one agent, or several with commas between."""
    first, *rest = _parts(names) if names else [None]
    agent = one_named(agent, first, playbook, model)
    return replace(agent, fallback=tuple(lasting(one) for one in rest if one)) if names else agent


def worker_flags(names: str | None, playbook: Path | None, model: str | None) -> str:
    """Return the options of a command line that name this agent, each with a space before it."""
    given = {"--agent": names, "--playbook": playbook, "--model": model}
    return "".join(f" {flag} {quote(str(value))}" for flag, value in given.items() if value)


def _parts(names: str) -> list[str | None]:
    """Return the agents that a text names. A comma inside a command line separates nothing."""
    parts = [part.strip() for part in names.split(",")]
    if " " in names.strip() and not all(_is_known(part) for part in parts):
        return [names]
    return [*filter(None, parts)] or [names]


def _is_known(line: str) -> bool:
    program = line.split(" ", 1)[0]
    return program in own_catalog().names() or shutil.which(program) is not None or Path(program).is_file()


def line_up(agent: Agent) -> list[Agent]:
    """Return an agent and its fallbacks, each with the agents that would take over from it."""
    behind = [one_named(replace(agent, model_hint=None), name, None, None) for name in agent.fallback]
    return [agent, *(replace(one, fallback=agent.fallback[place:]) for place, one in enumerate(behind, 1))]


def first_able(
    run_input: RunInput, source: Mapping[str, str], lacks: Callable[[str], bool]
) -> tuple[RunInput, list[str]]:
    """Return the run input with the first of its agents that can begin, and messages on those before it.

    If none can, it has the first agent, and its start will say why it cannot begin.
    """
    troubles: list[str] = []
    for agent in line_up(run_input.agent) if run_input.agent.fallback else ():
        one = replace(run_input, agent=agent)
        try:
            refuse_absent(one, source, lacks)
        except SantiagoError as error:
            if error.reason not in _CANNOT_BEGIN:
                raise
            troubles.append(error.message)
        else:
            return one, [f"{trouble}; {called(agent)} works instead" for trouble in troubles]
    return run_input, []


def next_one(agent: Agent, state: RunState) -> tuple[Agent, str] | None:
    """Return the agent that takes over if the run stopped because its agent cannot go on, and a message; else None."""
    rests = state.phase in ENDED or state.phase is RunPhase.PAUSED
    if not rests or state.reason not in OF_ONE_AGENT or not agent.fallback:
        return None
    other = line_up(agent)[1]
    assert state.reason is not None
    why = MEANINGS[state.reason].sentence.rstrip(".")
    return other, f"{called(agent)} cannot go on ({state.reason}: {why}); {called(other)} takes over"


def follower(agent: Agent) -> str:
    """Return the name of the agent that takes over from this one; empty where there is none."""
    return called(line_up(agent)[1]) if agent.fallback else ""


def called(agent: Agent) -> str:
    """Return the name by which people know an agent."""
    if agent.mode == "scripted":
        return "scripted"
    return agent.profile or (Path(agent.command[0]).name if agent.command else "the first that is ready")
