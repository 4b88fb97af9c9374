"""The commands of the board: its tickets, the loop that works on them, and the archive."""

from __future__ import annotations

from typing import get_args

import click

from santiago.cli.options import Group, actor_option, agent_option, body, json_option, places_options, trust_option
from santiago.contract.board import BUDGET, CLAIMED_FROM, LEASE_MINUTES, QUEUES, Phase, Status
from santiago.contract.reasons import ErrorClass

QUEUE = click.Choice(QUEUES)
PHASE = click.Choice(get_args(Phase))
CLASS = click.Choice(get_args(ErrorClass))
user_option = click.option(
    "--user-facing", is_flag=True, help="Print a text for users instead: no command, path, queue or id."
)
lease_option = click.option(
    "--lease-minutes", type=click.IntRange(1, 100_000), metavar="MIN", default=LEASE_MINUTES, show_default=True
)


@click.group("queue", cls=Group)
def queue() -> None:
    """The board's tickets: add, claim, hand over, decide.

    \b
    santiago queue add "CSV export"
    santiago queue add "CSV export" --source doc:docs/prd.md
    santiago queue claim REQ-1.S1
    santiago queue verify REQ-1.S1 --from HEAD
    santiago queue move REQ-1.S1 --to done
    """


@queue.command("add")
@click.argument("words", nargs=-1, metavar="[TITLE]")
@click.option("--queue", type=QUEUE, default="planner-inbox", show_default=True, help="Where it stands at first.")
@click.option("--id", "name", help="A name that no other ticket has or had; default: the next number.")
@click.option("--title", help="What is wanted, in a few words; the same as TITLE.")
@click.option("--worker", default="planner", show_default=True)
@click.option("--status", type=click.Choice(get_args(Status)), help="Default: that of the queue.")
@click.option("--source", default="manual", show_default=True, help="doc:PATH or plan:ID name what describes it.")
@click.option("--note", default="")
@click.option("--next-action", default="TBD")
@click.option("--lease", default="none", type=click.Choice(("none",)))
@click.option("--evidence", default="none", metavar="LINKS")
@click.option("--phase", type=PHASE)
@click.option("--error-class", type=CLASS, default="none")
@click.option("--attempt-count", type=click.IntRange(0), default=0)
@click.option("--retry-budget", type=int, default=BUDGET, show_default=True)
@click.option("--depends-on", multiple=True, metavar="ID", help="A ticket that must be done first (may be repeated).")
@click.option("--verify", "checks", multiple=True, metavar="CMD", help="A check of this ticket (may be repeated).")
@actor_option
@json_option
@body("ticket_work:add")
def add() -> None:
    """Put a ticket onto the board: a request in a few words, or work for one of the other queues.

    \b
    santiago queue add "CSV export"
    santiago queue add "CSV export" --source doc:docs/prd.md
    santiago queue add "Fix the total" --queue developer-todo --verify "pytest -q tests/test_total.py"
    """


@queue.command("claim")
@click.argument("ticket", metavar="[ID]", required=False)
@click.option("--queue", type=click.Choice(CLAIMED_FROM), help="Default: that of the ticket, else developer-todo.")
@click.option("--worker", help="Who works on it; default: your name.")
@click.option("--id", "name", metavar="ID", help="This ticket, instead of the first; the same as ID.")
@lease_option
@actor_option
@json_option
@body("ticket_work:claim")
def claim() -> None:
    """Take the first ticket of a queue that may be claimed, or the one that is named; one claim is one attempt."""


@queue.command("renew")
@click.argument("name", metavar="ID")
@click.option("--lease", required=True, help="The lease, as the claim printed it.")
@lease_option
@actor_option
@json_option
@body("ticket_work:renew")
def renew() -> None:
    """Hold a claimed ticket for longer."""


@queue.command("move")
@click.argument("ticket", metavar="[ID]", required=False)
@click.option("--id", "name", metavar="ID", help="The ticket; the same as ID.")
@click.option("--from", "source", type=QUEUE, help="Where it stands; refused where it stands elsewhere.")
@click.option("--to", required=True, type=QUEUE)
@click.option("--status", type=click.Choice(get_args(Status)), help="That of the queue; only for scripts that say it.")
@click.option("--phase", type=PHASE)
@click.option(
    "--evidence",
    metavar="LINKS",
    help="Files of the project, with `,` `;` or `|` between them; they replace what was named before.",
)
@click.option("--note")
@click.option("--next-action")
@click.option("--error-class", type=CLASS)
@click.option("--source", "document", help="doc:PATH or plan:ID, for a request.")
@click.option("--worker", help="Who hands it over; refused where another holds it.")
@click.option("--lease", help="The lease, as the claim printed it; refused where somebody claimed it since.")
@click.option("--in-person", "present", is_flag=True, hidden=True, help="Said by a screen that a person sits at.")
@actor_option
@json_option
@body("ticket_work:move")
def move() -> None:
    """Move a ticket; to done only through the done gate, by a planner or by the owner of the repository at a terminal."""


@queue.command("verify")
@click.argument("name", metavar="ID")
@click.option("--from", "ref", default="HEAD", show_default=True, help="The commit that holds the work.")
@click.option(
    "--check", "checks", multiple=True, metavar="CMD", help="A check that the planner adds (may be repeated)."
)
@click.option("--attest", metavar="WHY", help="A person's own word on work that no check can judge.")
@click.option("--trust-commands", is_flag=True, help="Run checks that come from a document without asking.")
@actor_option
@json_option
@body("ticket_work:verify")
def verify() -> None:
    """Run a ticket's checks on a person's work, and hand it over to the review with what they said."""


@queue.command("decide")
@click.argument("name", metavar="ID")
@click.argument("word", type=click.Choice(("replan", "bypass", "stop", "drop")))
@click.option(
    "--budget",
    type=click.IntRange(1),
    help="With replan: so many attempts in all; without, it is closed as superseded.",
)
@click.option("--why", default="")
@actor_option
@json_option
@body("ticket_work:decide")
def decide() -> None:
    """Say what becomes of a ticket that has used its attempts; drop closes any ticket that is no longer wanted."""


@queue.command("reconcile-exhausted")
@click.option("--queue", type=click.Choice(CLAIMED_FROM))
@click.option("--all", "every", is_flag=True, help="All queues that tickets are claimed from.")
@click.option("--quiet", is_flag=True, help="Only the total.")
@actor_option
@body("ticket_work:reconcile")
def reconcile() -> None:
    """Move waiting tickets without an attempt left to blocked."""


@queue.command("list")
@click.option("--queue", type=QUEUE, help="Only this one.")
@json_option
@body("ticket_rows:list_all")
def list_all() -> None:
    """Print the tickets, with all fields."""


@queue.command("stats")
@json_option
@body("ticket_rows:stats")
def stats() -> None:
    """Print how many tickets stand in each queue, and how many are archived."""


@queue.command("triage-blocked")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Print no more tickets than this.",
)
@json_option
@body("board_views:triage_blocked")
def triage_blocked() -> None:
    """List blocked tickets, the most urgent and then the oldest first, as TSV."""


@queue.command("weekly-retry-summary")
@click.option("--weeks", type=int, default=1, show_default=True, help="Sum up the last so many weeks.")
@actor_option
@json_option
@body("board_views:weekly_retry_summary")
def weekly_retry_summary() -> None:
    """Sum up which tickets ran out of attempts, and write it into the board's history."""


@queue.command("loop-status")
@user_option
@json_option
@body("board_views:loop_status")
def loop_status() -> None:
    """Say where the board stands: work is left, everything is done, or a person has to decide (exit 10)."""


@queue.command("next-prompt")
@user_option
@json_option
@body("board_views:next_prompt")
def next_prompt() -> None:
    """Say what comes next, with a prompt that can be handed on."""


@queue.command("guard")
@click.option(
    "--worker", required=True, type=click.Choice(("developer", "scientist", "tech-developer", "tech-scientist"))
)
@click.option("--plan", help="The plan that the work belongs to, by its id.")
@actor_option
@body("board_views:guard")
def guard() -> None:
    """Tell other programs whether a planner has routed work for a worker: exit 0, or 2 where not."""


@queue.command("init")
@click.option(
    "--governance", is_flag=True, help="Also seed product truth and scenarios, which the done gate then asks for."
)
@actor_option
@json_option
@body("board_files:init")
def init() -> None:
    """Begin a board: folders, queues, policies and forms. From then on work goes through it."""


@queue.command("import")
@click.option("--from-tsv", is_flag=True, help="Take in what another program changed in the board's files, as moves.")
@click.option("--force-rows", is_flag=True, help="Leave out rows that cannot be taken over.")
@actor_option
@json_option
@body("board_files:import_")
def import_() -> None:
    """Take over a project whose tickets stand in TSV files; each row is reported."""


@queue.command("sync")
@click.option(
    "--discard-edits", is_flag=True, help="Set aside files that another program changed, and write them anew."
)
@json_option
@body("board_files:sync")
def sync() -> None:
    """Write the board's files exactly as its store has them, with what people said to the runs behind its tickets."""


@click.command("loop")
@click.option("--max-cycles", type=click.IntRange(1), default=30, show_default=True, help="At most so many cycles.")
@click.option(
    "--no-progress-limit",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Stop after so many cycles in which nothing was done.",
)
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Tickets side by side.")
@click.option(
    "--watch",
    "minutes",
    type=click.IntRange(1),
    metavar="MINUTES",
    help="When nothing is left, wait so long for new work.",
)
@agent_option("The agent for developers' tickets; it also plans a request without a document, where no planner is set.")
@click.option("--yes", is_flag=True, help="Plan what was found, also where santiago is not sure.")
@click.option("--trust-commands", is_flag=True, help="Run commands that come from documents without asking.")
@trust_option
@click.option("--no-input", is_flag=True, help="Never ask anything.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document at the end.")
@places_options
@body("loop_command:loop")
def loop() -> None:
    """Route requests, have agents carry tickets out, review them, and archive what is done.

    \b
    santiago queue add "CSV export" --source doc:docs/prd.md
    santiago loop --trust-commands
    """


@click.command("board")
@click.option("--plain", is_flag=True, help="Print it once, line by line, for screen readers and scripts.")
@actor_option
@json_option
@body("board_views:board")
def board() -> None:
    """Look at the board: queues as columns, tickets with lease, evidence and age; claim, move and decide by key.

    \b
    What other processes change is shown as it happens. Press ? for the keys and the commands that do the same.
    """


@click.group("archive", invoke_without_command=True)
@click.pass_context
def archive(context: click.Context) -> None:
    """Look at the archive of accepted tickets; without a further word, `status`."""
    if context.invoked_subcommand is None:
        context.invoke(status, as_json=False)


@archive.command("status")
@json_option
@body("board_files:archive_status")
def status() -> None:
    """Print how many tickets each month's archive holds."""


@archive.command("flush")
@actor_option
@json_option
@body("board_files:flush")
def flush() -> None:
    """Archive what an imported board left in its done queue."""


@archive.command("clear")
@click.option("--yes", is_flag=True, help="Do it; without this, only print what would be removed.")
@actor_option
@json_option
@body("board_files:clear")
def clear() -> None:
    """Remove every archived ticket from the board; only a person does this, and it is recorded."""
