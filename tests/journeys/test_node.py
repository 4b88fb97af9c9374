"""An npm package, handed over as a pull request, and a monorepo with a part in each of two languages."""

import json
import shutil
from pathlib import Path

import pytest

from tests.journeys.person import MERGED, Person, branch_of, shared

pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="no npm here")

CART = 'const { euros } = require("money");\n\nexports.total = (cents) => euros(cents.reduce((sum, one) => sum + one, 0));\n'
TEST = 'const test = require("node:test");\nconst assert = require("node:assert");\nconst { {name} } = require("{file}");\n\n'
ABOUT_TOTAL = TEST.replace("{name}", "total").replace("{file}", "../src/cart.js")
ABOUT_LABEL = TEST.replace("{name}", "label").replace("{file}", "../src/label.js")
PRD = """\
# Cart

## User Stories

### Vouchers

As a customer, I want to use a voucher, so that I pay less.

- `total([1000], 200)` is `8.00 EUR`
"""
PACKAGE = {"name": "shop", "version": "1.0.0", "private": True, "scripts": {"test": "node --test"},
           "dependencies": {"money": "file:./money"}}  # fmt: skip
SHOP = {
    "package.json": json.dumps(PACKAGE), "src/cart.js": CART, "docs/PRD.md": PRD, ".gitignore": "node_modules/\n",
    "money/package.json": '{"name": "money", "version": "1.0.0", "main": "index.js"}',
    "money/index.js": "exports.euros = (cents) => `${(cents / 100).toFixed(2)} EUR`;\n",
    "test/cart.test.js": f'{ABOUT_TOTAL}test("total", () => assert.strictEqual(total([100, 250]), "3.50 EUR"));\n',
}  # fmt: skip
VOUCHERS = {
    "src/cart.js": CART.replace("(cents)", "(cents, voucher = 0)", 1).replace(" 0));", " 0) - voucher);"),
    "test/voucher.test.js": f'{ABOUT_TOTAL}test("voucher", () => assert.strictEqual(total([1000], 200), "8.00 EUR"));\n',
}
GH = '#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/asked"\necho https://example.org/ann/shop/pull/1\n'


def test_an_npm_package_handed_over_as_a_pull_request(tmp_path: Path) -> None:
    origin = shared(tmp_path, "shop", SHOP)
    ann = Person(tmp_path)
    ann.clones(origin)
    ann.types("npm install --silent")
    found = ann.types("santiago init")
    assert "Found  npm test   (because of the test script of package.json)" in found
    ann.types("git add -A && git commit -q -m 'Set santiago up' && git push -q origin main")

    ann.installs("worker", {"Vouchers": VOUCHERS})
    ran = ann.types("santiago run docs/PRD.md --agent worker --yes")
    assert "success  1 done: " in ran
    assert "      santiago pr " in ran

    ann.installs("gh", {}, program=GH)
    waits = ann.types("santiago pr", code=10)
    assert "Nothing was pushed" in waits
    assert "`santiago pr --yes`" in waits
    assert "https://example.org/ann/shop/pull/1\n" in ann.types("santiago pr --yes")
    body = (ann.here / (ann.home / "asked").read_text().splitlines()[-1]).read_text()
    assert "  - `S1#1` `total([1000], 200)` is `8.00 EUR`: no test was named for it\n" in body
    assert "- `npm test`\n" in body

    bob = Person(tmp_path, "bob")
    bob.clones(origin)
    bob.types(f"git merge -q --squash origin/{branch_of(ran)} && git commit -q -m 'Vouchers (#1)' && git push -q")
    ann.types("git pull -q")
    assert MERGED in ann.types("santiago status")
    assert "is already merged" in ann.types("santiago pr")


ORDERS = """\
import unittest

from api.orders import order


class Orders(unittest.TestCase):
    def test_items(self):
        self.assertEqual(order(["tea"])["items"], ["tea"])
"""
NUMBERED = """\
# Orders with a number

## Features

### F1: Orders have a number

- [ ] `order(["tea"], 7)` has the number 7 (api)
- [ ] the label of order 7 begins with "#7" (web)

Verify:

```sh
cd packages/api && python3 -m unittest discover
node --check packages/web/src/label.js
```
"""
MONOREPO = {
    "packages/api/api/__init__.py": "", "packages/api/test_orders.py": ORDERS, "docs/prd.md": NUMBERED,
    "packages/api/api/orders.py": 'def order(items):\n    return {"items": items}\n',
    "packages/api/pyproject.toml": '[project]\nname = "api"\nversion = "0.1.0"\n',
    "packages/web/package.json": '{"name": "web", "version": "1.0.0", "private": true, "scripts": {"test": "node --test"}}',
    "packages/web/src/label.js": 'exports.label = ({ items }) => items.join(", ");\n',
    "packages/web/test/label.test.js": f'{ABOUT_LABEL}test("items", () => assert.strictEqual(label({{ items: ["tea"] }}), "tea"));\n',
}  # fmt: skip
NUMBERS = {
    "packages/api/api/orders.py": 'def order(items, number=0):\n    return {"items": items, "number": number}\n',
    "packages/api/test_numbers.py": ORDERS.replace("test_items", "test_number").replace(
        '["tea"])["items"], ["tea"]', '[], 7)["number"], 7'
    ),
    "packages/web/src/label.js": 'exports.label = ({ items, number }) => (number ? `#${number} ` : "") + items.join(", ");\n',
    "packages/web/test/number.test.js": f'{ABOUT_LABEL}test("number", () => assert.strictEqual(label({{ items: [], number: 7 }}), "#7 "));\n',
}


def test_a_monorepo_with_a_part_in_each_of_two_languages(tmp_path: Path) -> None:
    """Both parts are checked; what the settings check anyway is not asked about again."""
    ann = Person(tmp_path)
    ann.clones(shared(tmp_path, "shop", MONOREPO))
    found = ann.types("santiago init")
    assert (
        "Found  cd packages/api && python3 -m unittest discover   (because of test_*.py files, in packages/api)"
        in found
    )
    assert "Found  cd packages/web && npm test   (because of the test script of package.json, in packages/web)" in found
    ann.types("git add -A && git commit -q -m 'Set santiago up'")
    planned = ann.types("santiago plan docs/prd.md")
    assert "        $ node --check packages/web/src/label.js   docs/prd.md:14\n" in planned
    assert "Checks    every story: $ cd packages/web && npm test   santiago.toml:7\n" in planned

    ann.installs("worker", {"Orders have a number": NUMBERS})
    asked = ann.types("santiago run docs/prd.md --agent worker", code=10)
    assert "1 command of the document waits for approval: `node --check packages/web/src/label.js`\n" in asked
    assert "fix: Read it in docs/prd.md:14, then use --trust-commands.\n" in asked
    ran = ann.types("santiago run docs/prd.md --agent worker --trust-commands")
    assert "success  1 done: " in ran
    ann.types(f"git merge -q {branch_of(ran)}")
    assert MERGED in ann.types("santiago status")
