"""Documents and small programs that stand in the worlds of the pages."""

from typing import Any

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
GREETER_CHECK = "python3 -m unittest -q test_it.Greeter.test"
STEPS = """\
# Greeter plan

## Step 1: Say hello

**Result**
- hello() says hello

## Step 2: Say goodbye

**Result**
- bye() says goodbye
"""
NOTES = """\
# Notes

## Step 1: Notes of an entry

**Result**
- an entry can have a note
"""


def plan(*stories: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a plan as an agent drafts it: one requirement for each story, one chunk for each that is named."""
    requirements = [
        {"id": f"R{story['id'][1:]}", "title": story["title"], "criteria": story["criteria"]} for story in stories
    ]
    written = [
        {
            "depends_on": [], "files": [], "description": "", **story,
            "requirements": [need["id"]], "criteria": [one["id"] for one in story["criteria"]],
        }
        for story, need in zip(stories, requirements, strict=True)
    ]  # fmt: skip
    chunks = {story["chunk"]: [one["id"] for one in stories if one["chunk"] == story["chunk"]] for story in stories}
    listed = [{"label": label, "stories": ids} for label, ids in chunks.items()]
    return {
        "contract_version": 1, "title": "Plan", "requirements": requirements, "stories": written, "chunks": listed,
        "run_verify": [],
    }  # fmt: skip


def _story(number: int, title: str, chunk: str, test: str, *criteria: str, **more: Any) -> dict[str, Any]:
    told = [{"id": f"R{number}#{at}", "text": text} for at, text in enumerate(criteria, 1)]
    verify = [f"python3 -m unittest -q tests.{test}"]
    return {"id": f"S{number}", "title": title, "chunk": chunk, "criteria": told, "verify": verify, **more}


REFUNDS = [
    _story(1, "Refund endpoint", "C01_backend", "test_refund", "a paid invoice is refunded", "an open one is refused"),
    _story(2, "Refund form", "C02_screen", "test_form", "the form names the invoice", depends_on=["S1"]),
]
E_MAIL = _story(3, "Refund e-mail", "C02_screen", "test_mail", "the customer gets an e-mail", depends_on=["S1"])
GREETERS = [
    _story(1, "Say hello", "C01", "test_greeter.Greeter.test_hello", "hello() says hello"),
    _story(2, "Say goodbye", "C01", "test_greeter.Greeter.test_bye", "bye() says goodbye", depends_on=["S1"]),
]
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
SIDE_BY_SIDE = """\
# PRD: Greeter

### R1: Say hello

**Files:** `hello.txt`

- [ ] hello.txt says hello

**Verification:** `grep hello hello.txt`

### R2: Say goodbye

**Files:** `bye.txt`

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
HELLO_TEST = """\
import unittest

import hello


class Hello(unittest.TestCase):
    def test_says_hello(self):
        self.assertEqual(hello.hello(), "hello")
"""
NUMBERS = """\
# PRD: Numbers

### R1: Add numbers

- [ ] add returns the sum

**Verification:** `python3 -m unittest -q test_numbers`
"""
NUMBERS_TEST = """\
import unittest

from numbers_ import twice


class Numbers(unittest.TestCase):
    def test_twice(self):
        self.assertEqual(twice(2), 4)
"""
TWICE = "def twice(number):\n    return 2 * number\n"
ADD = "\n\ndef add(one, other):\n    return one + other\n"
ADD_TEST = "\n    def test_add(self):\n        from numbers_ import add\n\n        self.assertEqual(add(1, 2), 3)\n"
LEAVES = """\


def close():
    import os

    os._exit(0)
"""
LOOSE = '[agent]\ncommand = ["./tools/agent.sh"]\n\n[policy]\nsandbox = "off"\n'
SHOP_TEST = "from shop import twice\n\n\ndef test_twice():\n    assert twice(2) == 4\n"
RED_TEST = "\n\ndef test_thrice():\n    from numbers_ import thrice\n\n    assert thrice(2) == 6\n"
TODOS = [
    {"content": text, "status": status}
    for text, status in (
        ("Read the tests", "completed"),
        ("Write the parser", "completed"),
        ("Handle signs", "in_progress"),
    )
]
TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("Read", {"file_path": "tests/test_money.py"}),
    ("TodoWrite", {"todos": [*TODOS, {"content": "Run the tests", "status": "pending"}]}),
    ("Grep", {"pattern": "def parse"}),
    ("Edit", {"file_path": "ledger/money.py"}),
    ("Bash", {"command": "python3 -m unittest -q tests.test_money"}),
    ("Edit", {"file_path": "ledger/money.py"}),
]
EVIDENCE = {
    f"R1#{number}": f"tests.test_money.Money.{test}"
    for number, test in enumerate(
        ("test_reads_amounts_exactly", "test_refuses_what_is_no_amount", "test_shows_amounts"), 1
    )
}
_GREETER_PY = ["def hello():\n    return 'hello'\n", "\n\ndef bye():\n    return 'goodbye'\n"]
GREETS: list[tuple[str, list[dict[str, Any]]]] = [
    ("S1", [{"write": {"greeter.py": _GREETER_PY[0]}}]),
    ("S2", [{"write": {"greeter.py": "".join(_GREETER_PY)}}]),
]
"""What an agent does about GREETER."""
