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
HELLO = """\
# PRD: Greeter

## Phase 1: One

### R1: Say hello

- [ ] hello.txt says hello

**Verification:** `grep hello hello.txt`

## Phase 2: Two

### R2: Say goodbye

- [ ] bye.txt says goodbye

**Verification:** `grep goodbye bye.txt`
"""
WORKER = "#!/bin/sh\n[ $SANTIAGO_STORY = S1 ] && echo hello > hello.txt || echo goodbye > bye.txt\n"
IDLER = "#!/bin/sh\necho nothing > nothing.txt\n"
GREET_PRD = """\
# PRD: Greeter

### R1: Say hello

**Files:** `greet.py`

- [ ] `greet("Ann")` returns "Hello, Ann!"
"""
GREET = 'def greet(name):\n    return f"Hello, {name}!"\n'
GREET_TEST = 'def test_greets_ann():\n    from greet import greet\n\n    assert greet("Ann") == "Hello, Ann!"\n'
TWO_TEST = "def test_two():\n    from two import TWO\n\n    assert TWO == 2\n"
