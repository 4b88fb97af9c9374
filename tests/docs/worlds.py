"""The worlds that pages name in a comment (`<!-- world: NAME -->`): what is there before the reader types anything."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tests.docs import texts
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.docs.world import World


def empty(world: World) -> None:
    """Give a repository with a first commit, and nothing else."""
    world.commit({"README.md": "# Ledger\n"})


def ledger(world: World) -> None:
    """Give the example of this repository: its document, its tests and its playbook."""
    shutil.copytree(ROOT / "examples" / "ledger", world.repo, dirs_exist_ok=True)
    world.commit()


def claude(world: World) -> None:
    """Give a small project with a document, its tests, and Claude Code, which carries it out."""
    tests = {"tests/__init__.py": "", "tests/test_greeter.py": texts.GREETER_TESTS}
    world.commit({"docs/prd.md": texts.GREETER, "docs/plan.md": texts.NOTES, **tests})
    hello, bye = "def hello():\n    return 'hello'\n", "\n\ndef bye():\n    return 'goodbye'\n"
    world.agent(
        "claude",
        ("# Draft a plan", [{"draft": texts.PLAN}]),
        ("an entry can have a note", [{"draft": texts.DETAIL}]),
        ("S1", [{"write": {"greeter.py": hello}}]),
        ("S2", [{"write": {"greeter.py": hello + bye}}]),
    )


def plans(world: World) -> None:
    """Give documents to plan: a long one without checks, and two versions of a short one."""
    stories = "".join(f"### R{number}: Part {number}\n\n- it works\n\n" for number in range(1, 46))
    second = f"{texts.SHOP.replace('by card', 'by invoice')}\n{texts.REFUND}"
    world.commit({"docs/big.md": f"# Big\n\n{stories}", "new.md": second, "old.md": texts.SHOP})
    world.unseen("santiago plan old.md --out-dir old")


def offers(world: World) -> None:
    """Give a Python project whose document names no check."""
    settings = '[project]\nname = "shop"\n\n[tool.ruff]\nline-length = 100\n'
    tests = "def test_a():\n    assert True\n"
    world.commit({"prd.md": texts.SHOP, "pyproject.toml": settings, "tests/test_a.py": tests})


WORLDS: dict[str, Callable[[World], None]] = {world.__name__: world for world in (empty, ledger, claude, offers, plans)}
