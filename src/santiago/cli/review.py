"""`santiago review`: a planning session, looked at and decided on."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from santiago.app.start.start_options import StartOptions
from santiago.cli.options import agent_option
from santiago.contract.reasons import ExitCode

if TYPE_CHECKING:
    from santiago.app.planning.planning_sessions import Planning
    from santiago.contract.session import Drafter


@click.command("review")
@click.argument("session", required=False)
@click.option("--continue", "adjust", metavar="TEXT", help="Another planning turn of all agents, with what you say.")
@click.option("--edit", metavar="TEXT", help="A quick edit: a turn of one agent, with what you say.")
@click.option("--finalize", is_flag=True, help="Make the revision that you looked at final, and carry it out.")
@click.option("--revision", type=click.IntRange(1), metavar="N", help="The revision that you looked at.")
@click.option("--no-start", is_flag=True, help="With --finalize: make the run, and start nothing.")
@click.option(
    "--moved-base", is_flag=True, help="With --finalize: even if there are commits that are newer than the plan."
)
@click.option(
    "--cancel", is_flag=True, help="End the review, or the turn under way, without a run; it can be taken up again."
)
@click.option("--take-up", is_flag=True, help="Go on with a turn that was interrupted, or a review that was cancelled.")
@agent_option("Other agents plan from here on; with --finalize: the agent that carries the plan out.")
@click.option("--model", metavar="NAME", help="With --agent: the model, by the agent's own name for it.")
@click.option("--playbook", type=click.Path(path_type=Path), help="What the scripted agent plays.")
@click.option("--add-turns", type=click.IntRange(1, 1000), metavar="N", help="Allow this many turns more.")
@click.option("--sandbox", type=click.Choice(("off",)), help="Let agents work without a sandbox, where none works.")
@click.option(
    "--trust-commands", is_flag=True, help="With --finalize: run commands that come from the plan without asking."
)
@click.option("--jobs", type=click.IntRange(1, 256), help="With --finalize: stories side by side.")
@click.option(
    "--gate", type=click.Choice(("auto", "chunk", "step")), help="With --finalize: where your word is needed."
)
@click.option("--plain", is_flag=True, help="Print it, line by line, instead of the screen.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--actor", "who", metavar="NAME", help="Who decides; default $SANTIAGO_ACTOR or $USER.")
@click.option("--no-input", is_flag=True, help="Never ask anything.")
def command(
    session: str | None, adjust: str | None, edit: str | None, finalize: bool, revision: int | None, no_start: bool,
    moved_base: bool, cancel: bool, take_up: bool, agent: str | None, model: str | None, playbook: Path | None,
    add_turns: int | None, sandbox: str | None,
    trust_commands: bool, jobs: int | None, gate: str | None, plain: bool, as_json: bool, who: str | None, no_input: bool,
) -> int:  # fmt: skip
    """Look at SESSION, or the newest of this repository, and decide: plan on, edit, finalize or cancel.

    \b
    santiago review                                        the plan by chunk, and what changed
    santiago review --continue "split the storage work"    another turn of all agents
    santiago review --edit "S3 also needs a migration"     a turn of one agent
    santiago review --finalize --revision 2                make it final and carry it out
    """
    from santiago.app.planning.planning_sessions import find_session, load_session, sessions_here

    wish = _wish(
        {
            "adjust": adjust is not None,
            "edit": edit is not None,
            "approve": finalize,
            "cancel": cancel,
            "take-up": take_up,
        }
    )
    named = agent or model or playbook
    if named and (wish in (None, "cancel") or no_start):
        raise click.UsageError("Say what the agent is to do: --continue, --edit, --take-up or --finalize.")
    only_looks = session is None and wish is None and add_turns is None and not as_json
    if only_looks and not sessions_here() and (begun := _begin(no_input=no_input, plain=plain, who=who)) is not None:
        return begun
    planning = load_session(find_session(session))
    if wish is None and add_turns is None:
        return _look(planning, revision, plain=plain, as_json=as_json)
    from santiago.app.actor import actor  # loaded here, since only looking at a session needs none of these
    from santiago.app.planning import session_word
    from santiago.cli import planning as shown
    from santiago.cli.view.terminal import say

    me, asked = actor(who), shown.may_ask(no_input=no_input)
    if finalize and revision is None:
        raise click.UsageError(f"Say which revision you looked at: --revision {planning.state.revision}")
    facts = session_word.more_turns(planning, add_turns, me) if add_turns else []
    if named and not finalize:
        facts += session_word.other_drafters(_drafters(planning, agent, model, playbook), me)
    if wish == "take-up":
        facts += session_word.take_up(planning, me)
    elif wish is not None:
        consent = partial(shown.ask_commands, planning, asked=asked, trusted=trust_commands)
        starts = finalize and planning.asked.artifact == "plan" and not no_start
        session_word.say_on_plan(
            planning, wish, adjust or edit or "", me,
            revision=revision, moved=moved_base, consent=consent if starts else lambda: None,
        )  # fmt: skip
    if wish == "cancel" and planning.worker and planning.state.turn is not None:
        say(f"{planning.session_id}: {planning.worker} was asked to end the turn", err=True)
        return ExitCode.OK
    before = shown.ended(planning)
    planning = shown.carry_on(planning.folder, me, facts=facts, quiet=as_json, asked=asked, unfenced=sandbox == "off")
    if wish == "approve" and planning.state.run and not no_start:
        flags = StartOptions(
            jobs=jobs, gate=gate, sandbox=sandbox, as_json=as_json, plain=plain, actor=who, no_input=no_input,
            trust_commands=True,  # the person agreed to them before the plan became final
        )  # fmt: skip
        return _execute(planning, flags, agent, model, playbook)
    shown.print_session(planning, as_json=as_json)
    return ExitCode.OK if wish == "cancel" else shown.exit_code(planning, before)


def _begin(*, no_input: bool, plain: bool, who: str | None) -> int | None:
    """Ask what should be planned in a repository that has no session, and begin one; None if nobody says anything."""
    import os
    from pathlib import Path

    from santiago.app.planning.begin import by_settings
    from santiago.artifacts.repository import find_root
    from santiago.cli.planning import may_ask, plan_with
    from santiago.cli.view.terminal import say

    root = find_root(Path.cwd())
    if root is None or not may_ask(no_input=no_input):
        return None
    say("no planning session yet in this repository")
    subject = click.prompt(
        "What should be planned: a sentence, or a document (Enter for nothing)", "", show_default=False
    )
    if not subject.strip():
        return None
    if plain:
        os.environ["SANTIAGO_PLAIN"] = "1"
    return plan_with(by_settings(subject.strip(), root), who=who)


def _wish(given: dict[str, bool]) -> str | None:
    """Return the one action that was chosen; None if there is none."""
    wishes = [name for name, is_given in given.items() if is_given]
    if len(wishes) > 1:
        raise click.UsageError("Choose one of --continue, --edit, --finalize, --cancel and --take-up.")
    return wishes[0] if wishes else None


def _look(planning: Planning, revision: int | None, *, plain: bool, as_json: bool) -> int:
    """Show a session, on the screen or line by line. Showing changes nothing; actions on the screen do."""
    from santiago.cli.view import screens

    if not plain and not as_json and screens.has_screen():
        return screens.review(planning, revision)
    from santiago.cli.planning import print_session

    print_session(planning, revision, as_json=as_json)
    return ExitCode.OK


def _drafters(planning: Planning, agent: str | None, model: str | None, playbook: Path | None) -> tuple[Drafter, ...]:
    """Return the agents that a person names; raise if one of them cannot begin, or if others are at work."""
    import os

    from santiago.contract.errors import Kind, SantiagoError

    if (turn := planning.state.turn) is not None:
        base = f"santiago review {planning.session_id}"
        hint = f"`{base} --cancel` ends it; `{base} --take-up --agent NAME` then goes on with another agent."
        raise SantiagoError(Kind.INPUT, f"a turn of {', '.join(turn.agents)} is under way", hint=hint)

    from santiago.app.planning.begin import Wanted, drafters_of, refuse_absent

    names = (agent,) if agent else tuple(one.label for one in planning.asked.drafters)
    found = drafters_of(Wanted(subject="", agents=names, model=model, playbook=playbook), os.environ)
    refuse_absent(found, planning.run_input, os.environ)
    return found


def _execute(
    planning: Planning, flags: StartOptions, agent: str | None, model: str | None, playbook: Path | None
) -> int:
    """Execute the run that was made from an approved revision."""
    from santiago.app.loading import frozen
    from santiago.app.start.agents import named
    from santiago.app.start.risky_settings import said_by
    from santiago.artifacts.repository import RUNS
    from santiago.cli.running import start

    out_dir = planning.root / RUNS / planning.state.run
    plan, run_input = frozen(out_dir)
    other = named(run_input.agent, agent, playbook, model) if agent or model or playbook else None
    said = said_by(agent=agent, model=model, playbook=playbook)
    return start(out_dir, run_input, plan, flags, base=planning.root, agent=other, said=said)
