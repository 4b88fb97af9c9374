"""The commands that reach a run, or decide about single stories of it."""

from __future__ import annotations

import click

from santiago.cli.options import actor_option, body, events_option, json_option, trust_option


@click.command("stop")
@click.argument("run", required=False)
@click.option("--now", is_flag=True, help="Do not wait for the current agent or check to end; its work is kept.")
@click.option("--detach", is_flag=True, help="Leave workers at work; the next start takes up what they have.")
@actor_option
@json_option
@body("reach:stop")
def stop() -> None:
    """Stop RUN, or the one of this repository that is running, at the next safe boundary."""


@click.command("answer")
@click.argument("words", nargs=-1, metavar="[RUN] [QUESTION ANSWER]")
@click.option("--text", default="", help="Text that goes with one of the fixed answers.")
@click.option(
    "--rest", type=click.Choice(("chunk", "run")), help="Approve the rest of this chunk, or of the run, as well."
)
@click.option("--revision", type=click.IntRange(1), help="Of a planning session: the revision you looked at.")
@actor_option
@json_option
@body("reach:answer")
def answer() -> None:
    """Answer an open question; the first answer counts. Without a question, list those of all runs and planning sessions.

    \b
    santiago answer                                  what is asked, and the words that each takes
    santiago answer S2-detail-1 ok
    santiago answer S2-detail-1 "in Euros, please"
    santiago answer S2-result-1 validate --rest chunk
    santiago answer plan-2 approve --revision 2
    """


@click.command("change")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--text", required=True, help="What should be different.")
@actor_option
@json_option
@body("reach:change")
def change() -> None:
    """Ask for a change of a story: a running attempt stops at once, and the text goes into the next one."""


@click.command("hint")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--text", required=True, help="What the next attempt should know.")
@actor_option
@json_option
@body("reach:hint")
def hint() -> None:
    """Leave a hint for the next attempt of a story; a running attempt is not disturbed."""


@click.command("pause")
@click.argument("run", required=False)
@click.option("--off", is_flag=True, help="Stop pausing after each chunk.")
@actor_option
@json_option
@body("reach:pause")
def pause() -> None:
    """Pause RUN, or the one of this repository that is running, after each chunk from now on."""


@click.command("skip")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--why", required=True, help="The reason; it is recorded.")
@actor_option
@events_option
@body("going_on:skip")
def skip() -> None:
    """Leave a story out: other stories stop waiting for it, and the run can go on without it."""


@click.command("accept")
@click.argument("words", nargs=-1, metavar="[RUN] [STORY]")
@click.option("--unproven", is_flag=True, help="Accept every story whose work no test shows.")
@click.option("--why", required=True, help="The reason; it is recorded with your name.")
@trust_option
@actor_option
@events_option
@body("going_on:accept")
def accept() -> None:
    """Accept the work of a story's latest attempt, whatever its checks said. The log keeps that it was you."""


@click.command("verify")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--from", "ref", required=True, metavar="REF", help="A branch or commit with your own work.")
@click.option("--why", default="", help="Take it, with this reason, even if it passes and no test shows it.")
@trust_option
@actor_option
@events_option
@body("going_on:verify")
def verify() -> None:
    """Check your own work on a story like an attempt, and put it onto the run's branch if it passes."""


@click.command("try")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--attempt", type=click.IntRange(1), help="The work of this attempt; of the last one by default.")
@body("try_out:try_out")
def try_out() -> None:
    """Open a shell in a checkout of STORY's work, with its dependencies. Leave the shell, and the checkout is removed.

    What you change there is kept as a patch; it becomes no part of the work by itself.
    """


@click.command("watch")
@click.argument("run", required=False)
@click.option("--plain", is_flag=True, help="Print it once, line by line, for screen readers and scripts.")
@body("watch:watch")
def watch() -> None:
    """Browse RUN (a folder or an id), or the run that is running, or the newest one here.

    \b
    Shows chunks and stories as they go, answers questions, stops, resumes, and runs selections of chunks.
    Leaving it never stops a run. Press ? for the keys and the commands that do the same.
    """
