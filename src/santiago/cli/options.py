"""Options that the commands which run something share."""

from __future__ import annotations

from dataclasses import fields
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from santiago.app.start.start_options import Places, StartOptions
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from click.shell_completion import CompletionItem

    from santiago.agent.catalog import Catalog


class Group(click.Group):
    """Lists its commands with the whole first sentence of each, however long."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(1000)) for name in self.list_commands(ctx)]
            )


def body(place: str) -> Callable[[Callable[[], None]], Callable[..., Any]]:
    """Have a command load its body when it is called: a function of a module below `santiago.cli`, as `module:function`.

    It gets what the options say by their names. Of the function that is decorated only the docstring is used, as the help.
    """

    def of_command(help_text: Callable[[], None]) -> Callable[..., Any]:
        @wraps(help_text)
        def call(**given: Any) -> Any:
            return body_at(place)(**given)

        call.body = place  # type: ignore[attr-defined]  # a test compares each body with the options of its command
        return call

    return of_command


def body_at(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(f"santiago.cli.{module}"), name)
    return function


actor_option = click.option("--actor", metavar="NAME", help="Your name for the log; default $SANTIAGO_ACTOR or $USER.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
PATH = click.Path(path_type=Path)
playbook_option = click.option("--playbook", type=PATH, help="What the scripted agent plays.")
trust_option = click.option(
    "--trust-project", is_flag=True, help="Trust the settings that come with the repository, as they are."
)
events_option = click.option("--json", "as_json", is_flag=True, help="Print events as NDJSON.")

_PLACES = (
    click.option(
        "--engine", metavar="URL", help="Where workers get attempts from: postgresql://… or temporal://…, no password."
    ),
    click.option("--remote", metavar="GIT-URL", help="The git remote that coordinator and workers reach."),
    click.option("--insecure", is_flag=True, help="Let plain text leave this machine, to engine and remote."),
)

_OPTIONS = (
    *_PLACES,
    click.option(
        "--jobs",
        type=click.IntRange(1, 256),
        help="How many stories run side by side; default from the settings.",
    ),
    click.option(
        "--gate",
        type=click.Choice(("auto", "chunk", "step")),
        help="Where to stop for you: nowhere (auto), after each chunk, or before and after every story (step).",
    ),
    click.option("--max-attempts", type=click.IntRange(1), help="At most so many attempts for each story."),
    click.option("--max-cost", type=click.FloatRange(0), metavar="USD", help="Money for the whole run."),
    click.option("--max-tokens", type=click.IntRange(0), help="Tokens for the whole run."),
    click.option(
        "--timeout",
        type=click.FloatRange(0, min_open=True),
        metavar="MIN",
        help="Minutes for the whole run; waiting does not count.",
    ),
    click.option(
        "--chunks",
        metavar="A[-B][,C]",
        help="Only these chunks, by number or label; a label with commas or dashes in quotes.",
    ),
    click.option("--only", metavar="STORY", multiple=True, help="Only this story (may be repeated)."),
    click.option("--keep-going", is_flag=True, help="After a failure, go on with stories that do not depend on it."),
    click.option(
        "--optimistic", is_flag=True, help="Let stories run side by side even if they do not name their files."
    ),
    click.option("--assume-external", is_flag=True, help="Treat dependencies outside the document as done."),
    click.option(
        "--sandbox",
        type=click.Choice(("auto", "required", "off")),
        help="Whether agent and checks run in a sandbox; auto: where one works.",
    ),
    click.option(
        "--changed-tests",
        type=click.Choice(("ask", "accept", "refuse")),
        help="What to do when work changes what existing tests expect.",
    ),
    click.option(
        "--doubts",
        type=click.Choice(("ask", "accept", "refuse")),
        help="What to do with work that could deceive its checks.",
    ),
    click.option(
        "--unproven",
        type=click.Choice(("ask", "accept")),
        help="What to do with work that passes its checks and that no test shows.",
    ),
    click.option(
        "--tests-first",
        metavar="[AGENT]",
        is_flag=False,
        flag_value="same",
        shell_complete=lambda ctx, param, incomplete: agent_names(ctx, param, incomplete),
        help="Have each story's tests written before it is implemented, by the same agent or another one.",
    ),
    click.option(
        "--yes", is_flag=True, help="Plan what was found, also where santiago is not sure; it confirms nothing else."
    ),
    click.option("--trust-commands", is_flag=True, help="Run commands that come from the document without asking."),
    click.option(
        "--trust-ticks/--no-trust-ticks",
        default=None,
        help="Take the document's word for ticked boxes that no check shows, or have them worked on.",
    ),
    trust_option,
    click.option("--dry-run", is_flag=True, help="Show what would run, and run nothing."),
    events_option,
    click.option("--plain", is_flag=True, help="Print lines instead of the live table."),
    actor_option,
    click.option("--no-input", is_flag=True, help="Never ask anything."),
    click.option(
        "--attended", is_flag=True, help="Wait at questions for answers from elsewhere: `santiago answer`, `watch`."
    ),
)


class _Agents(click.Option):
    """An option whose help lists the known agents. The list is made only when help is shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from santiago.agent.profile import FOR_ANY
        from santiago.app.profiles import own_catalog

        known = ", ".join(name for name in own_catalog().names() if name not in FOR_ANY)
        found = super().get_help_record(ctx)
        return (found[0], f"{found[1]} Known agents: {known}.") if found else None


def agent_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option --agent. `what` tells what it means for the command."""
    several = "Several, separated by commas: the next takes over when one cannot go on."
    return click.option(
        "--agent", cls=_Agents, metavar="NAME[,NAME…]", shell_complete=agent_names, help=f"{what} {several}"
    )


def model_option(what: str = "The model, by the agent's own name for it.") -> Callable[..., Any]:
    return click.option("--model", metavar="NAME", help=what)


def checks_option(what: str) -> Callable[..., Any]:
    return click.option("--verify", "checks", multiple=True, metavar="CMD", help=what)


def agent_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the agents that begin like this, for a shell to complete."""
    from click.shell_completion import CompletionItem

    from santiago.agent.profile import FOR_ANY
    from santiago.app.profiles import own_catalog

    own = own_catalog()
    before, comma, last = incomplete.rpartition(",")
    names = [name for name in own.names() if name.startswith(last) and name not in FOR_ANY]
    return [CompletionItem(f"{before}{comma}{name}", help=_title(own, name)) for name in names]


def _title(own: Catalog, name: str) -> str:
    from santiago.contract.errors import SantiagoError

    try:
        return own.get(name).title
    except SantiagoError:
        return "its profile is not valid"


@record
class Worker:
    """The agent and the checks that a command line names."""

    agent: str | None = None
    model: str | None = None
    checks: tuple[str, ...] = ()
    playbook: Path | None = None


@record
class Reading:
    """How a command line wants a document read."""

    against: Path | None = None
    strict: bool = False
    units: str | None = None


_READING = (
    click.option("--against", type=PATH, help="An older plan.json; its stories keep their ids."),
    click.option("--strict", is_flag=True, help="Treat warnings as errors."),
    click.option(
        "--units",
        metavar="CHOICE",
        help="Which list is the work, where a document has several: an id prefix (fr) or a kind (box).",
    ),
)


def worker_options(*options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command these options of who works and what checks the work; it gets them together, as `worker`."""
    return lambda command: _together(command, options, Worker, "worker")


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of reading a document; it gets them together, as `reading`."""
    return _together(command, _READING, Reading, "reading")


def places_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of where attempts are carried out; it gets them together, as `places`."""
    return _together(command, _PLACES, Places, "places")


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a run; it gets them together, as `flags`."""
    return _together(command, _OPTIONS, StartOptions, "flags")


def _together(command: Callable[..., Any], options: Sequence[Any], kind: Any, name: str) -> Callable[..., Any]:
    @wraps(command)
    def with_record(**given: Any) -> Any:
        found = kind(**{one.name: given.pop(one.name) for one in fields(kind) if one.name in given})
        return command(**{name: found}, **given)

    for option in reversed(options):
        with_record = option(with_record)
    return with_record
