"""The commands that begin a run, or go on with one."""

from __future__ import annotations

import click

from santiago.cli.options import (
    PATH,
    agent_names,
    agent_option,
    body,
    checks_option,
    json_option,
    model_option,
    playbook_option,
    reading_options,
    run_options,
    worker_options,
)

MODEL = "The model that the agent should use, by its own name for it."


@click.command("plan")
@click.argument("subject", required=False, metavar="[PRD]")
@click.option("--input", "run_input", type=PATH, help="A run-input.json instead of a document.")
@click.option("--out-dir", type=PATH, help="Where to write; default .santiago/runs/<run id>.")
@click.option("--check", is_flag=True, help="Write nothing; exit 3 if the plan would change.")
@reading_options
@click.option(
    "--yes",
    is_flag=True,
    help="Plan what was found, also where santiago is not sure; `execute` and `resume` ask no more.",
)
@click.option("--findings", is_flag=True, help="Show every finding, and the whole account of the document.")
@click.option(
    "--with",
    "agents",
    multiple=True,
    metavar="AGENT[,AGENT…]",
    help="Have these agents plan it, in a session that you review.",
)
@worker_options(
    agent_option("The agent that carries the plan out. A sentence instead of a document it plans, too."),
    model_option(),
    playbook_option,
)
@click.option("--chunks-target", type=click.IntRange(1), help="With --with: about this many chunks.")
@click.option("--stories-target", type=click.IntRange(1), help="With --with: about this many stories.")
@click.option(
    "--depth", type=click.Choice(("shallow", "medium", "deep")), help="With --with: how finely to divide the work."
)
@click.option("--trust-project", is_flag=True, help="With --with: trust the settings that come with the repository.")
@click.option("--graph", is_flag=True, help="Print the dependency graph as Mermaid text instead of the plan.")
@json_option
@body("plan:plan")
def plan() -> None:
    """Compile PRD into a plan; the same document always gives the same plan. With --with, agents plan it, or plan a sentence.

    \b
    santiago plan docs/prd.md                    compile, show, and write it for `execute`
    santiago plan docs/prd.md --check            has the plan changed? (exit 3)
    santiago plan --input run-input.json --out-dir DIR       for programs
    santiago plan --with claude,codex "Add refunds"          a planning session; `santiago review` goes on with it
    """


@click.command("draft")
@click.argument("subject", metavar="IDEA|FILE")
@click.option(
    "--with",
    "--agent",
    "agents",
    multiple=True,
    metavar="AGENT[,AGENT…]",
    shell_complete=agent_names,
    help="Who writes it; default: the first that can.",
)
@model_option()
@playbook_option
@click.option(
    "--output", "-o", metavar="FILE", help="Where an approved draft is written; default: beside FILE, or prd.md."
)
@click.option("--trust-project", is_flag=True, help="Trust the settings that come with the repository.")
@json_option
@body("drafting:draft")
def draft() -> None:
    """Have an agent write a requirements document, from an IDEA or from a FILE whose every sentence stays as it is.

    \b
    santiago draft "A command that exports invoices as CSV" --with claude
    santiago draft docs/notes.md --with claude,codex -o docs/prd.md
    """


@click.command("review")
@click.argument("session", required=False)
@click.option("--continue", "adjust", metavar="TEXT", help="Another planning turn of all agents, with what you say.")
@click.option("--edit", metavar="TEXT", help="A quick edit: a turn of one agent, with what you say.")
@click.option("--finalize", is_flag=True, help="Make the revision that you looked at final, and carry it out.")
@click.option("--revision", type=click.IntRange(1), help="The revision that you looked at.")
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
@click.option("--playbook", type=PATH, help="What the scripted agent plays.")
@click.option("--add-turns", type=click.IntRange(1, 1000), help="Allow this many turns more.")
@click.option("--sandbox", type=click.Choice(("off",)), help="Let agents work without a sandbox, where none works.")
@click.option(
    "--trust-commands", is_flag=True, help="With --finalize: run commands that come from the plan without asking."
)
@click.option("--jobs", type=click.IntRange(1, 256), help="With --finalize: stories side by side.")
@click.option(
    "--gate", type=click.Choice(("auto", "chunk", "step")), help="With --finalize: where your word is needed."
)
@click.option("--plain", is_flag=True, help="Print it, line by line, instead of the screen.")
@json_option
@click.option("--actor", "who", metavar="NAME", help="Who decides; default $SANTIAGO_ACTOR or $USER.")
@click.option("--no-input", is_flag=True, help="Never ask anything.")
@body("review:review")
def review() -> None:
    """Look at SESSION, or the newest of this repository, and decide: plan on, edit, finalize or cancel.

    \b
    santiago review                                        the plan by chunk, and what changed
    santiago review --continue "split the storage work"    another turn of all agents
    santiago review --edit "S3 also needs a migration"     a turn of one agent
    santiago review --finalize --revision 2                make it final and carry it out
    """


@click.command("run")
@click.argument("prd", type=PATH)
@worker_options(
    agent_option("An agent by name, or any command line; default: the first that is installed and signed in."),
    model_option(MODEL),
    checks_option("A check of every story (may be repeated)."),
    playbook_option,
)
@click.option("--out-dir", type=PATH, help="The run's folder; default .santiago/runs/<run id>.")
@click.option("--enqueue", is_flag=True, help="Hand the document to the planner instead: a request on the board.")
@click.option("--new", is_flag=True, help="Start a new run, even if one of this document is not finished.")
@click.option("--resume", is_flag=True, help="Go on with the run of this document that is not finished.")
@reading_options
@run_options
@body("new_runs:run")
def run() -> None:
    """Compile PRD and have an agent carry it out. Where a run of PRD is not finished, that one goes on.

    \b
    santiago run docs/prd.md --agent claude --verify "pytest -q"
    santiago run docs/prd.md --agent claude,codex --max-cost 5
    santiago run docs/prd.md --agent "my-agent --flag"
    """


@click.command("step")
@click.argument("what", required=False, metavar="[PLAN|RUN]")
@worker_options(
    agent_option("An agent by name, or any command line."),
    model_option(MODEL),
    checks_option("A check of every step (may be repeated)."),
    playbook_option,
)
@click.option("--new", is_flag=True, help="Start a new run, even if one of this plan is not finished.")
@click.option("--write-back", is_flag=True, help="Tick in the plan's document what is done, on the run's branch.")
@reading_options
@run_options
@body("new_runs:step")
def step() -> None:
    """Carry a plan out with your approval before and after each step; without a name, go on with the latest one.

    \b
    santiago step docs/plan.md --agent claude --verify "pytest -q"
    santiago step                    go on where it was left
    santiago answer                  what is asked, from any other terminal
    """


@click.command("execute")
@click.option("--input", "run_input", type=PATH, required=True, help="The run input.")
@click.option("--plan", "plan_path", type=PATH, required=True, help="The plan.")
@click.option("--out-dir", type=PATH, required=True, help="The run's folder.")
@run_options
@body("going_on:execute")
def execute() -> None:
    """Carry out a plan, story by story. Only work that passes its checks counts."""


@click.command("resume")
@click.argument("run", required=False)
@click.option(
    "--add-attempts",
    type=click.IntRange(0, 1000),
    default=0,
    help="More attempts for failed or spent stories.",
)
@click.option(
    "--add-minutes",
    type=click.FloatRange(0),
    metavar="MIN",
    default=0.0,
    help="More minutes for the run and failed or spent stories.",
)
@click.option("--add-cost", type=click.FloatRange(0), default=0.0, metavar="USD", help="More money for the run.")
@click.option("--add-tokens", type=click.IntRange(0), default=0, help="More tokens for the run.")
@click.option(
    "--hint", "hints", nargs=2, multiple=True, metavar="STORY TEXT", help="A hint for a story's next attempt."
)
@worker_options(agent_option("Go on with another agent, from here on."), model_option("Go on with another model."))
@run_options
@body("going_on:resume")
def resume() -> None:
    """Go on with RUN (a folder or an id), or with the latest run of this repository that has begun and is not finished.

    A plan that was never started is begun only if it is named.
    """


@click.command("rebase")
@click.argument("run")
@click.argument("prd", type=PATH)
@worker_options(
    click.option("--agent", metavar="NAME", shell_complete=agent_names, help="Another agent than the run's own."),
    model_option("Another model."),
    checks_option("Other checks of every story."),
    playbook_option,
)
@reading_options
@run_options
@body("new_runs:rebase")
def rebase() -> None:
    """Carry PRD out from where RUN (a folder or an id) stands, as a new run.

    Stories keep their ids. Those that RUN finished and that ask for the same are done: only their checks run. Settings and
    commits that came since are taken in.

    \b
    santiago rebase r_20261115_114848 docs/prd.md
    """
