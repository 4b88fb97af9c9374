"""A Python project with a virtual environment and an editable install: from a clone to merged work, and once more."""

import shutil
from importlib.metadata import distribution
from pathlib import Path

from tests.journeys.person import EVIDENCE, MERGED, Person, branch_of, shared

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "shop"
version = "0.1.0"

[tool.pytest.ini_options]
testpaths = ["tests"]
"""
PRICES = '''\
"""Prices in cents."""


def total(prices: list[int]) -> int:
    return sum(prices)
'''
PRD = """\
# Shop: discounts and receipts

## Background

Customers ask for discounts, and the till prints no receipt.

## Requirements

### FR-1: Discount on a total

As a shop owner I want to take a percentage off a total, so that regular customers come back.

Acceptance criteria:

- [ ] `discounted(1000, 10)` is 900

### FR-2: Receipt

Depends on: FR-1

Acceptance criteria:

- [ ] the last line is the total
"""
SHOP = {
    "pyproject.toml": PYPROJECT, "src/shop/__init__.py": "", "src/shop/prices.py": PRICES, "docs/prd.md": PRD,
    "tests/test_prices.py": "from shop.prices import total\n\n\ndef test_total():\n    assert total([100, 250]) == 350\n",
    ".gitignore": ".venv/\n__pycache__/\n",
}  # fmt: skip
DISCOUNT = {
    "src/shop/prices.py": f"{PRICES}\n\ndef discounted(cents: int, percent: int) -> int:\n    return cents * (100 - percent) // 100\n",
    "tests/test_discount.py": "from shop.prices import discounted\n\n\ndef test_ten():\n    assert discounted(1000, 10) == 900\n",
    EVIDENCE: '{"FR-1#1": "tests/test_discount.py::test_ten"}',
}  # fmt: skip
RECEIPT = {
    "src/shop/receipts.py": "from shop.prices import total\n\n\ndef receipt(prices):\n    return [*prices, total(prices)]\n",
    "tests/test_receipts.py": "from shop.receipts import receipt\n\n\ndef test_last():\n    assert receipt([1, 2])[-1] == 3\n",
    EVIDENCE: '{"FR-2#1": "tests/test_receipts.py::test_last"}',
}  # fmt: skip
TOOLS = (
    "pip",
    "hatchling",
    "editables",
    "packaging",
    "pathspec",
    "pluggy",
    "trove-classifiers",
    "pytest",
    "iniconfig",
    "pygments",
)


def lend(environment: Path) -> None:
    """Copy the tools of the test set-up into a new environment, where others would download them."""
    (packages,) = environment.glob("lib/python*/site-packages")
    for name in TOOLS:
        found = distribution(name)
        for top in {path.parts[0] for path in found.files or () if path.parts[0] != ".."}:
            source, target = Path(str(found.locate_file(top))), packages / top
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            elif source.is_file():
                shutil.copy(source, target)


def test_a_python_project_with_an_editable_install(tmp_path: Path) -> None:
    ann = Person(tmp_path)
    ann.clones(shared(tmp_path, "shop", SHOP))
    ann.types("python3 -m venv --without-pip .venv")
    lend(ann.here / ".venv")
    ann.types(".venv/bin/python -m pip install -q --no-build-isolation -e .")

    found = ann.types("santiago init")
    assert "Found  .venv/bin/python -m pytest -q" in found
    assert "runs: 1 test passes" in found
    assert 'next:  git add santiago.toml && git commit -m "Set santiago up"\n       santiago run docs/prd.md\n' in found
    ann.types('git add santiago.toml && git commit -q -m "Set santiago up"')

    planned = ann.types("santiago plan docs/prd.md")
    assert "every story: $ .venv/bin/python -m pytest -q   santiago.toml:6\n" in planned
    assert planned.endswith("next: santiago run docs/prd.md\n")

    ann.installs("worker", {"Discount on a total": DISCOUNT, "Receipt": RECEIPT})
    ran = ann.types("santiago run docs/prd.md --agent worker")
    assert "success  2 done: " in ran
    assert "no named test shows these criteria" not in ran
    branch = branch_of(ran)
    assert f"next: git merge {branch}   # take the work over\n" in ran

    ann.types(f"git merge -q {branch} && git push -q origin main")
    assert ann.types(".venv/bin/python -m pytest -q").startswith("...")
    assert MERGED in ann.types("santiago status")

    again = ann.types("santiago run docs/prd.md --agent worker")
    assert "kept     S1 Discount on a total" in again
    assert "nothing to merge: every story was done before this run, and its checks still pass" in again
    assert "not proven" not in again
