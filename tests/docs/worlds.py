"""The worlds that pages name in a comment (`<!-- world: NAME -->`): what is there before the reader types anything."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.docs.world import World


def empty(world: World) -> None:
    """Give a repository with a first commit, and nothing else."""
    world.commit(README_md="# Ledger\n")


def ledger(world: World) -> None:
    """Give the example of this repository: its document, its tests and its playbook."""
    shutil.copytree(ROOT / "examples" / "ledger", world.repo, dirs_exist_ok=True)
    world.commit()


def plans(world: World) -> None:
    """Give documents to plan: a long one without checks, and two versions of a short one."""
    stories = "".join(f"### R{number}: Part {number}\n\n- it works\n\n" for number in range(1, 46))
    world.commit(
        docs__big_md=f"# Big\n\n{stories}", new_md=f"{TWO.replace('by card', 'by invoice')}\n{THIRD}", old_md=TWO
    )
    world.unseen("santiago plan old.md --out-dir old")


def offers(world: World) -> None:
    """Give a Python project whose document names no check."""
    world.commit(
        prd_md=TWO, pyproject_toml='[project]\nname = "shop"\n\n[tool.ruff]\nline-length = 100\n',
        tests__test_a_py="def test_a():\n    assert True\n",
    )  # fmt: skip


TWO = """\
# Shop

### R1: Cart

- [ ] a product can be added

### R2: Checkout

- [ ] an order is paid by card
"""
THIRD = """\
### R3: Refund

- [ ] a customer gets the money back
"""

WORLDS: dict[str, Callable[[World], None]] = {world.__name__: world for world in (empty, ledger, offers, plans)}
