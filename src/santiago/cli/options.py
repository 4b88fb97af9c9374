"""Options that the commands which run something share."""

from __future__ import annotations

from dataclasses import fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from santiago.app.start.wishes import Wishes
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.shell_completion import CompletionItem

    from santiago.agent.catalog import Catalog

_OPTIONS = (
    click.option("--jobs", type=click.IntRange(1, 256), help="Stories side by side; default from the run input."),
    click.option(
        "--gate",
        type=click.Choice(("auto", "chunk", "step")),
        help="Go on by itself, rest after each chunk, or ask before and after every story.",
    ),
    click.option("--chunks", metavar="A[-B][,C]", help="Only these chunks, by number or label; quote odd labels."),
    click.option("--only", metavar="STORY", multiple=True, help="Only this story (may be repeated)."),
    click.option("--keep-going", is_flag=True, help="After a failure go on with independent stories."),
    click.option("--optimistic", is_flag=True, help="Stories that name no files may run beside others."),
    click.option("--assume-external", is_flag=True, help="Take dependencies outside the document to be there."),
    click.option(
        "--sandbox", type=click.Choice(("auto", "required", "off")), help="The fence around agent and checks."
    ),
    click.option(
        "--changed-tests",
        type=click.Choice(("ask", "accept", "refuse")),
        help="What to do where work changes what existing tests expect.",
    ),
    click.option(
        "--doubts",
        type=click.Choice(("ask", "accept", "refuse")),
        help="What to do with work that could deceive its checks.",
    ),
    click.option(
        "--tests-first",
        metavar="[AGENT]",
        is_flag=False,
        flag_value="same",
        shell_complete=lambda ctx, param, incomplete: agent_names(ctx, param, incomplete),
        help="Have each story's tests written before it is implemented, by the same agent or another one.",
    ),
    click.option("--trust-commands", is_flag=True, help="Run commands that come from the document without asking."),
    click.option(
        "--trust-project", is_flag=True, help="Trust the settings that come with the repository, as they are."
    ),
    click.option("--dry-run", is_flag=True, help="Show what would run, and run nothing."),
    click.option("--json", "as_json", is_flag=True, help="Print events as NDJSON."),
    click.option("--plain", is_flag=True, help="Whole lines instead of the live view."),
    click.option("--actor", metavar="NAME", help="Who decides, for the log; default $SANTIAGO_ACTOR or $USER."),
    click.option("--no-input", is_flag=True, help="Never ask anything."),
    click.option(
        "--attended", is_flag=True, help="Wait at questions for answers from elsewhere: `santiago answer`, `watch`."
    ),
)


def agent_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the agents that begin like this, for a shell to complete."""
    from click.shell_completion import CompletionItem

    from santiago.app.profiles import own_catalog

    own = own_catalog()
    names = [name for name in own.names() if name.startswith(incomplete) and name != "command"]
    return [CompletionItem(name, help=_title(own, name)) for name in names]


def _title(own: Catalog, name: str) -> str:
    from santiago.contract.errors import SantiagoError

    try:
        return own.get(name).title
    except SantiagoError:
        return "its profile is not valid"


@record
class Flags(Wishes):
    """What a command line says about one start of a run."""

    trust_commands: bool = False
    trust_project: bool = False
    dry_run: bool = False
    as_json: bool = False
    plain: bool = False
    no_input: bool = False
    attended: bool = False


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a run; it gets them together, as `flags`."""

    @wraps(command)
    def with_flags(**given: Any) -> Any:
        flags = Flags(**{one.name: given.pop(one.name) for one in fields(Flags) if one.name in given})
        return command(flags=flags, **given)

    for option in reversed(_OPTIONS):
        with_flags = option(with_flags)
    return with_flags
