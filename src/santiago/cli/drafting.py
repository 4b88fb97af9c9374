"""Agents that write a plan or a document: `santiago draft`, `santiago plan --with`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.planning.begin import Wanted
from santiago.cli.planning import plan_with
from santiago.contract.session import SizeWishes

if TYPE_CHECKING:
    from santiago.cli.options import Worker
    from santiago.contract.session import Depth


def plan_by_agents(
    subject: str, agents: tuple[str, ...], worker: Worker, size: tuple[int | None, int | None, Depth | None],
    *, trusted: bool, as_json: bool,
) -> int:  # fmt: skip
    """Have agents plan a document or a sentence, in a session."""
    chunks, stories, depth = size
    wanted = Wanted(
        subject=subject,
        agents=agents or (worker.agent or "",),
        worker=worker.agent,
        model=worker.model,
        playbook=worker.playbook,
        size=SizeWishes(chunks=chunks, stories=stories, depth=depth),
    )
    return plan_with(wanted, trusted=trusted, as_json=as_json)


def draft(
    subject: str, agents: tuple[str, ...], model: str | None, playbook: Path | None, output: str | None,
    trust_project: bool, as_json: bool,
) -> int:  # fmt: skip
    """Have agents write a document that the compiler reads exactly."""
    wanted = Wanted(
        subject=subject,
        agents=agents,
        model=model,
        playbook=playbook,
        artifact="document",
        output=output or _beside(subject),
    )
    return plan_with(wanted, trusted=trust_project, as_json=as_json)


def _beside(subject: str) -> str:
    """Return a file name that is not taken: beside the document, or `prd.md`."""
    path = Path(subject)
    stem, folder = (path.stem, path.parent) if len(subject) < 4096 and path.is_file() else ("prd", Path())
    names = (folder / f"{stem}{'' if stem == 'prd' else '-draft'}{number}.md" for number in ("", *range(2, 1000)))
    return str(next(name for name in names if not name.exists()))
