"""`santiago draft`: an agent writes a document that the compiler reads exactly; nothing runs."""

from __future__ import annotations

from pathlib import Path

import click

from santiago.cli.options import agent_names


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
@click.option("--model", metavar="NAME", help="The model, by the agent's own name for it.")
@click.option("--playbook", type=click.Path(path_type=Path), help="What the scripted agent plays.")
@click.option(
    "--output", "-o", metavar="FILE", help="Where an approved draft is written; default: beside FILE, or prd.md."
)
@click.option("--trust-project", is_flag=True, help="Trust the settings that come with the repository.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    subject: str, agents: tuple[str, ...], model: str | None, playbook: Path | None, output: str | None,
    trust_project: bool, as_json: bool,
) -> int:  # fmt: skip
    """Have an agent write a requirements document, from an IDEA or from a FILE whose every sentence stays as it is.

    \b
    santiago draft "A command that exports invoices as CSV" --with claude
    santiago draft docs/notes.md --with claude,codex -o docs/prd.md
    """
    from santiago.app.planning.begin import Wanted
    from santiago.cli.planning import plan_with

    wanted = Wanted(
        subject=subject,
        agents=agents,
        model=model,
        playbook=playbook,
        artifact="document",
        output=output or beside(subject),
    )
    return plan_with(wanted, trusted=trust_project, as_json=as_json)


def beside(subject: str) -> str:
    """Return a file name that is not taken: beside the document, or `prd.md`."""
    path = Path(subject)
    stem, folder = (path.stem, path.parent) if len(subject) < 4096 and path.is_file() else ("prd", Path())
    names = (folder / f"{stem}{'' if stem == 'prd' else '-draft'}{number}.md" for number in ("", *range(2, 1000)))
    return str(next(name for name in names if not name.exists()))
