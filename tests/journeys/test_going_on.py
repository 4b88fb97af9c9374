"""After the first merge: one story added and one changed, a squash merge that others made, another agent that takes over."""

import shutil
import sys
from pathlib import Path

from tests.journeys.person import MERGED, Person, branch_of, shared

PRD = """\
# Shop

## Requirements

### FR-1: Discount

- [ ] `discounted(1000, 10)` is 900

### FR-2: Receipt

- [ ] the last line is the total
"""
CHANGED = PRD.replace("is the total", 'is the word "total" and the total')
MORE = """
### FR-3: Export

- [ ] `export([100])` is "100;"
"""
TEST = "import unittest\n\nfrom shop import {0}\n\n\nclass {1}(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual({2})\n"
SHOP = {
    "docs/prd.md": PRD, "shop/__init__.py": "from shop.prices import total\n", "shop/prices.py": "def total(prices):\n    return sum(prices)\n",
    "test_total.py": TEST.format("total", "Total", "total([1, 2]), 3"),
}  # fmt: skip
DISCOUNT = {
    "shop/discounts.py": "def discounted(cents, percent):\n    return cents * (100 - percent) // 100\n",
    "test_discount.py": TEST.format("discounts", "Discount", "discounts.discounted(1000, 10), 900"),
}
RECEIPT = {
    "shop/receipts.py": "def receipt(prices):\n    return [*map(str, prices), str(sum(prices))]\n",
    "test_receipt.py": TEST.format("receipts", "Receipt", "receipts.receipt([1, 2])[-1], '3'"),
}
WITH_WORD = {
    "shop/receipts.py": "def receipt(prices):\n    return [*map(str, prices), f'total {sum(prices)}']\n",
    "test_receipt.py": TEST.format("receipts", "Receipt", "receipts.receipt([1, 2])[-1], 'total 3'"),
}
EXPORT = {
    "shop/exports.py": "def export(prices):\n    return ''.join(f'{price};' for price in prices)\n",
    "test_export.py": TEST.format("exports", "Export", "exports.export([100]), '100;'"),
}

SIGNED_OUT = f"""#!{sys.executable}
import json, sys
if "--version" in sys.argv:
    sys.exit(print("9.9.9"))
print(json.dumps({{"type": "result", "is_error": True, "result": "Invalid API key · Please run /login"}}))
sys.exit(1)
"""
"""What Claude Code says where it may not work."""


def begun(tmp_path: Path) -> tuple[Path, Person]:
    """Return what is shared, and somebody who has set her clone of it up."""
    origin, ann = shared(tmp_path, "shop", SHOP), Person(tmp_path)
    ann.clones(origin)
    assert "runs: 1 test passes" in ann.types("santiago init")
    ann.types("git add santiago.toml && git commit -q -m 'Set santiago up' && git push -q")
    return origin, ann


def test_a_document_with_one_story_added_and_one_changed(tmp_path: Path) -> None:
    """Only those two go to an agent; that the tests of the old wording no longer hold is a person's to decide."""
    _, ann = begun(tmp_path)
    ann.installs("first", {"Discount": DISCOUNT, "Receipt": RECEIPT})
    ann.types(f"git merge -q {branch_of(ann.types('santiago run docs/prd.md --agent first'))}")

    ann.writes({"docs/prd.md": CHANGED + MORE})
    planned = ann.types("santiago plan docs/prd.md")
    assert "Kept      done already, so only their checks would run: S1\n" in planned
    ann.installs("second", {"Receipt": WITH_WORD, "Export": EXPORT})  # of the discount it knows nothing
    asked = ann.types("santiago run docs/prd.md --agent second", code=10)
    assert "uncommitted changes" not in asked
    assert "kept     S1 Discount" in asked
    assert [line.split()[2] for line in asked.splitlines() if line[8:15] == " start "] == ["S2", "S3"]
    assert "next: santiago answer S2-1 accept              # take the work as it is\n" in asked

    ann.types("santiago answer S2-1 accept")
    ran = ann.types("santiago resume")
    assert "success  3 done: " in ran
    ann.types(f"git add -A && git commit -q -m 'The next version' && git merge -q --no-edit {branch_of(ran)}")
    assert "Ran 4 tests" in ann.types("python3 -m unittest")
    assert MERGED in ann.types("santiago status")


def test_a_document_that_changes_while_its_run_is_not_finished(tmp_path: Path) -> None:
    _, ann = begun(tmp_path)
    ann.installs("first", {"Discount": DISCOUNT})
    stuck = ann.types("santiago run docs/prd.md --agent first --max-attempts 1", code=30)
    assert "Failed: S2     Done: S1\n" in stuck
    ann.writes({"docs/prd.md": CHANGED + MORE})
    ann.installs("second", {"Receipt": WITH_WORD, "Export": EXPORT})

    status = ann.types("santiago status")
    assert "note: docs/prd.md has changed since the run began\n" in status
    (rebase,) = [line.partition(": ")[2] for line in status.splitlines() if "santiago rebase" in line]
    ran = ann.types(f"{rebase} --agent second --max-attempts 2")
    assert "kept     S1 Discount" in ran
    assert "success  3 done: " in ran
    ann.types(f"git add -A && git commit -q -m 'The next version' && git merge -q --no-edit {branch_of(ran)}")
    assert "Ran 4 tests" in ann.types("python3 -m unittest")


def test_a_squash_merge_that_others_made(tmp_path: Path) -> None:
    """Her clone knows it by its records; so does a colleague's by the message, which has the titles of the commits."""
    origin, ann = begun(tmp_path)
    ann.installs("worker", {"Discount": DISCOUNT, "Receipt": RECEIPT})
    branch = branch_of(ann.types("santiago run docs/prd.md --agent worker"))
    ann.types("santiago pr --yes")  # which pushes, although no program is there that opens the request

    bob = Person(tmp_path, "bob")
    bob.clones(origin)
    bob.types(f"git merge -q --squash origin/{branch} && git commit -q --no-edit && git push -q")
    ann.types("git pull -q")
    assert MERGED in ann.types("santiago status")

    bob.installs("worker", {})
    refused = bob.types("santiago run docs/prd.md --agent worker", code=10)
    assert "--trust-project" in refused
    assert "nothing to merge" in bob.types("santiago run docs/prd.md --agent worker --trust-project")


def test_another_agent_takes_over(tmp_path: Path) -> None:
    """The first is not installed, the second is not signed in; nobody types anything in between."""
    _, ann = begun(tmp_path)
    ann.installs("claude", {}, program=SIGNED_OUT)
    ann.env["ANTHROPIC_API_KEY"] = "sk-not-a-real-key-0123456789"
    ann.installs("worker", {"Discount": DISCOUNT, "Receipt": RECEIPT})
    absent = next(name for name in ("goose", "kimi", "vibe", "qwen") if shutil.which(name) is None)
    ran = ann.types(f"santiago run docs/prd.md --agent {absent},claude,worker")
    assert f"is not installed: there is no {absent} on PATH; claude works instead\n" in ran
    assert "claude cannot go on (agent_not_signed_in" in ran
    assert "; worker takes over\n" in ran
    assert "success  2 done: " in ran
    ann.types(f"git merge -q {branch_of(ran)}")
    assert MERGED in ann.types("santiago status")
