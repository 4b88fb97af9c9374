"""The commands that look at a run, hand its work over, or say what a word means."""

from __future__ import annotations

import click

from santiago.cli.options import PATH, actor_option, body, json_option


@click.command("serve")
@click.option("--read-only", is_flag=True, help="Show the pages, and take no answers.")
@click.option("--host-name", metavar="NAME", help="The name by which a tunnel of yours offers the pages over https.")
@actor_option
@body("serve:serve")
def serve() -> None:
    """Serve the pages of this repository to a browser on this machine: what needs you, runs, stories, questions.

    \b
    It prints a link that works once. Only 127.0.0.1 is listened on; from another machine:
    ssh -L PORT:127.0.0.1:PORT HOST      with the port of the link, then open the link there
    Leaving it never stops a run.
    """


@click.command("runs")
@click.option("--all", "every", is_flag=True, help="All of them, not only the newest.")
@json_option
@body("runs:runs")
def runs() -> None:
    """List the runs of this repository: state, document, age, and what to do next with each."""


@click.command("status")
@click.argument("run", required=False)
@click.option("--failed", is_flag=True, help="Show the failure report: output, evidence, next commands.")
@click.option("--stories", "all_stories", is_flag=True, help="List every story.")
@click.option("--tasks", "as_tasks", is_flag=True, help="Print the task list and plan of a coding agent, as JSON.")
@json_option
@body("status:status")
def status() -> None:
    """Show where RUN (a folder or an id) stands, or the run that is running, or the newest one here."""


@click.command("log")
@click.argument("run", required=False)
@click.option("--follow", "-f", is_flag=True, help="Keep printing until the run ends or pauses.")
@click.option("--story", metavar="STORY", help="Only what concerns this story.")
@click.option("--json", "as_json", is_flag=True, help="Print NDJSON: the events as they are recorded.")
@body("run_log:log")
def log() -> None:
    """Print the history of RUN (a folder or an id), or of the run that is running, or of the newest one here."""


@click.command("show")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--attempt", type=click.IntRange(1), help="Which attempt to show; the last one by default.")
@click.option("--patch", is_flag=True, help="Print what the attempt changed, line by line.")
@click.option("--log", "with_log", is_flag=True, help="Print the end of the agent's log.")
@json_option
@body("show:show")
def show() -> None:
    """Show STORY of RUN (a folder or an id), or of the run that is running, or of the newest one here."""


@click.command("report")
@click.argument("run", required=False)
@click.option(
    "--output",
    "-o",
    type=PATH,
    metavar="FILE",
    help="Where to; - is standard output. Default: report.html in the run's folder.",
)
@click.option(
    "--without", default="", metavar="PARTS", help="Leave out patches, output or answers; several with commas."
)
@click.option("--json", "as_json", is_flag=True, help="Print what it shows as one JSON document; a file only with -o.")
@body("report:report")
def report() -> None:
    """Write RUN (a folder or an id, or the newest one) as one HTML file that needs nothing else, and say what it holds.

    It shows what was done and why to believe it: criteria and their tests, attempts, critiques, patches, times and cost, what
    people said, what is left. Paths and names of this machine are replaced. It has no scripts and loads nothing.

    \b
    santiago report
    santiago report -o evidence.html --without patches,output
    """


@click.command("audit")
@click.argument("run", required=False)
@click.option("--repo", type=PATH, help="The repository, where it was moved since.")
@json_option
@body("audit:audit")
def audit() -> None:
    """Re-check RUN (a folder or an id): log chain, digests, verdicts, git refs, result. Exit 0 clean, 30 otherwise."""


@click.command("pr")
@click.argument("run", required=False)
@click.option("--yes", is_flag=True, help="Push the branch and open the request without asking.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, and ask nothing.")
@body("pr:pr")
def pr() -> None:
    """Push the branch of RUN (a folder or an id, or the newest one) and open a pull request, with the evidence per story.

    It is opened with gh or glab, if one is installed; else you open it, and are told where. Nothing is pushed without your consent.
    """


@click.command("export")
@click.argument("form", type=click.Choice(("junit", "sarif")), metavar="junit|sarif")
@click.argument("run", required=False)
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Write this file instead of printing.")
@body("export:export")
def export() -> None:
    """Print RUN (a folder or an id, or the newest one) in a form that CI services read.

    junit: a suite for each story, a case for each criterion. What no test shows is skipped, never passed.
    sarif: findings at lines of the document, and doubts at lines of the work.
    """


@click.command("tick")
@click.argument("run", required=False)
@click.option("--yes", is_flag=True, help="Commit the ticks on the run's branch.")
@click.option("--here", is_flag=True, help="Read and write the file in your working tree instead.")
@json_option
@body("tick:tick")
def tick() -> None:
    """Show how the document of RUN (a folder or an id, or the newest one) looks with all ticks that evidence allows.

    Boxes are ticked, flags such as `passes` become true, a `status` becomes done. Text that changed since it was planned is left alone.
    """


@click.command("explain")
@click.argument("code", required=False)
@click.option("--run", metavar="RUN", help="The run of the story; by default the one that is running, or the newest.")
@json_option
@body("explain:explain")
def explain() -> None:
    """Say what CODE means: a reason (agent_timeout), a finding (cycle) or an exit code (30). Without CODE, list all.

    With a story (S5) instead: where it stands in a run, and what it waits for.
    """


@click.command("simulate")
@click.argument("subject", required=False, metavar="[PLAN|RUN|DOC]")
@click.option("--jobs", metavar="N[,N…]", help="How many stories side by side; several numbers are compared.")
@click.option(
    "--runs",
    type=click.IntRange(10, 10_000),
    default=200,
    show_default=True,
    help="How many runs are simulated.",
)
@click.option("--seed", type=int, default=0, help="The random numbers: the same N gives the same forecast.")
@click.option("--attempt", metavar="A..B", help="Four of five attempts take between A and B, such as 5m..20m.")
@click.option(
    "--success", type=click.FloatRange(0, 1), metavar="SHARE", help="The share of attempts that pass, such as 0.8."
)
@click.option("--cost", type=click.FloatRange(0), metavar="USD", help="What an attempt costs.")
@click.option("--check", metavar="TIME", help="How long the checks take once, such as 60s.")
@click.option("--calibrate", is_flag=True, help="Compare the runs of this repository with what was to be expected.")
@click.option("--svg", "picture", type=PATH, metavar="FILE", help="Write the picture as SVG.")
@json_option
@body("simulate:simulate")
def simulate() -> None:
    """Tell how long a plan, a document or the rest of a run will take, what it will cost, and what holds it up.

    The real loop runs on a clock of its own, with times, ends and costs drawn from earlier runs of this repository, else
    of your other repositories, else from the options. Nothing is started and nothing is spent.

    \b
    santiago simulate docs/prd.md --jobs 1,4,16
    santiago simulate                              what is left of the run that is running, or of the newest one
    santiago simulate --calibrate
    """
