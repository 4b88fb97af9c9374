"""Documents and small programs that stand in the worlds of the pages."""

from __future__ import annotations

GREETER = """\
# PRD: Greeter

### R1: Say hello

- [ ] hello() says hello

### R2: Say goodbye

Depends on: R1

- [ ] bye() says goodbye
"""
GREETER_TESTS = """\
import unittest


class Greeter(unittest.TestCase):
    def test_hello(self):
        import greeter

        self.assertEqual(greeter.hello(), "hello")

    def test_bye(self):
        import greeter

        self.assertEqual(greeter.bye(), "goodbye")
"""
NOTES = """\
# Notes

## Step 1: Notes of an entry

**Result**
- an entry can have a note
"""
PLAN = {
    "contract_version": 1, "title": "Refunds", "requirements": [], "run_verify": [],
    "stories": [
        {
            "id": "S1", "title": "Refund an invoice", "description": "", "chunk": "C01", "requirements": [], "criteria": [],
            "depends_on": [], "files": ["refund.py"], "verify": ["python3 -m unittest -q tests.test_refund"],
        }
    ],
    "chunks": [{"label": "C01", "stories": ["S1"]}],
}  # fmt: skip
"""What an agent drafts."""
DETAIL = {
    "objective": "an entry can have a note", "create": ["ledger/notes.py"], "actions": ["write ledger/notes.py"],
    "checks": ["python3 -c 'import ledger.notes'"],
}  # fmt: skip
SHOP = """\
# Shop

### R1: Cart

- [ ] a product can be added

### R2: Checkout

- [ ] an order is paid by card
"""
REFUND = """\
### R3: Refund

- [ ] a customer gets the money back
"""
