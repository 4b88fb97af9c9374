"""The table of commands: what there is, where it is found, and the page that `santiago --help` prints."""

from __future__ import annotations

from santiago import __version__

COMPLETING = "_SANTIAGO_COMPLETE"
"""The variable by which a shell asks for completions."""
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Plan": {
        "plan": ("start_commands:plan", "compile a document into a plan; --with has agents plan it"),
        "draft": ("start_commands:draft", "have an agent write a document that the compiler reads exactly"),
        "review": ("start_commands:review", "look at a planning session: plan on, edit, finalize or cancel"),
    },
    "Run": {
        "run": ("start_commands:run", "plan and execute in one go"),
        "step": ("start_commands:step", "carry a plan out step by step, with your approval of each"),
        "execute": ("start_commands:execute", "carry a plan out; the same command again goes on with it"),
        "resume": ("start_commands:resume", "go on with a run, with more budget or a hint where given"),
        "rebase": ("start_commands:rebase", "take a changed document into a new run, and keep what is done"),
        "pr": ("look_commands:pr", "hand a run's branch to review, with the evidence of each story"),
        "tick": ("look_commands:tick", "tick in the document what is done on evidence"),
        "stop": ("reach_commands:stop", "stop a run at the next safe boundary"),
        "answer": ("reach_commands:answer", "list the open questions, or answer one"),
        "try": ("reach_commands:try_out", "open a shell in a checkout of a story's work"),
        "change": ("reach_commands:change", "ask for a change of a story"),
        "hint": ("reach_commands:hint", "leave a hint for a story's next attempt"),
        "pause": ("reach_commands:pause", "pause a running run after each chunk, or no longer"),
        "skip": ("reach_commands:skip", "leave a story out"),
        "accept": ("reach_commands:accept", "accept a story's work, whatever its checks said"),
        "verify": ("reach_commands:verify", "check your own work on a story, and take it if it passes"),
    },
    "Machines": {
        "work": ("work_commands:work", "carry out attempts of runs that other machines coordinate"),
        "workers": ("work_commands:workers", "the workers that are connected; `drain NAME` lets one end"),
        "engine": ("work_commands:engine", "prepare the server between machines, and check it with the remote"),
    },
    "Board": {
        "queue": ("ticket_commands:queue", "the board's tickets: add, claim, hand over, decide"),
        "loop": ("ticket_commands:loop", "work on the tickets until all are done or somebody must decide"),
        "archive": ("ticket_commands:archive", "tickets that were accepted, month by month"),
        "board": ("ticket_commands:board", "queues and tickets on the screen: claim, move, decide"),
    },
    "Look": {
        "watch": ("reach_commands:watch", "browse a run on the screen: follow, answer, stop, resume, select"),
        "serve": ("look_commands:serve", "the pages of this repository in a browser: runs, answers"),
        "runs": ("look_commands:runs", "the runs of this repository, and what to do next with each"),
        "status": ("look_commands:status", "where a run stands, and what needs you"),
        "log": ("look_commands:log", "the history of a run; --follow goes on"),
        "show": ("look_commands:show", "one story: attempts, checks, critique, changes"),
        "report": ("look_commands:report", "a run as one HTML file to send: evidence, timeline, cost"),
        "simulate": ("look_commands:simulate", "how long a plan or a run will take, its cost, and why"),
        "export": ("look_commands:export", "a run as JUnit or SARIF, for services that read these"),
        "audit": ("look_commands:audit", "re-check a run offline: log, digests, verdicts, git"),
        "clean": ("setup_commands:clean", "show and remove worktrees and refs of old runs"),
    },
    "Govern": {
        "truth": ("governance_commands:truth", "check the product truth; tell what a change concerns"),
        "scenario": ("governance_commands:scenario", "compile and run the scenarios of the catalogue"),
    },
    "Set up": {
        "doctor": ("setup_commands:doctor", "check this machine and repository; --checks runs the checks"),
        "init": ("setup_commands:init", "find a test command, try it, and write santiago.toml"),
        "config": ("setup_commands:config", "show each setting and where it comes from"),
        "mcp": ("setup_commands:mcp", "let editors and agents ask santiago, by an MCP server"),
        "completion": ("setup_commands:completion", "print the completion script of a shell"),
    },
    "Look up": {
        "explain": ("look_commands:explain", "say what a code means, or what a story waits for"),
        "schema": ("setup_commands:schema", "print the JSON Schema of a document"),
        "help": ("setup_commands:help_", "this page, or all about one command"),
        "version": ("setup_commands:version", "print the version"),
    },
}
"""Heading → command → (module, or module:name; one line of help)."""

COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


def overview() -> str:
    """Return the help page of the whole program."""
    lines = [
        "Usage: santiago COMMAND [OPTIONS] [ARGS]",
        "",
        "  Compiles a requirements document into a plan and has coding agents carry it",
        "  out, story by story. Believes nothing that it has not verified itself, loses",
        "  nothing, stays within hard budgets.",
    ]
    for heading, group in GROUPS.items():
        lines += ["", f"{heading}:", *(f"  {name:12} {text}" for name, (_, text) in group.items())]
    return "\n".join([*lines, "", "`santiago COMMAND --help` tells more about one of them.", f"santiago {__version__}"])
