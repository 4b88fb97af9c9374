"""The worlds that pages name in a comment (`<!-- world: NAME -->`): what is there before the reader types anything."""

import atexit
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
import yaml

from tests.board.governance import product
from tests.docs import texts
from tests.docs.pages import ROOT
from tests.docs.world import KEY, Play, World
from tests.engine import servers
from tests.simulation.planted import plant

Make = TypeVar("Make", bound="Callable[[World], None]")
PLAYBOOK: dict[str, list[dict[str, Any]]] = yaml.safe_load((ROOT / "examples/ledger/playbook.yaml").read_bytes())[
    "stories"
]
WORLDS: dict[str, Callable[[World], None]] = {}


def named(make: Make) -> Make:
    """Let pages name a world like its function."""
    WORLDS[make.__name__.replace("_", "-")] = make
    return make


@named
def empty(world: World) -> None:
    """Give a repository with a first commit, and nothing else."""
    world.commit({"README.md": "# Ledger\n"})


@named
def ledger(world: World) -> None:
    """Give the example of this repository: its document, its tests and its playbook."""
    shutil.copytree(ROOT / "examples" / "ledger", world.repo, dirs_exist_ok=True)
    world.commit()


@named
def claude(world: World) -> None:
    """Give a small project with a document, its tests, and Claude Code, which carries it out."""
    tests = {"tests/__init__.py": "", "tests/test_greeter.py": texts.GREETER_TESTS}
    world.commit({"docs/prd.md": texts.GREETER, "docs/plan.md": texts.NOTES, **tests})
    world.agent("claude", *drafts(), ("an entry can have a note", [{"draft": texts.DETAIL}]), *texts.GREETS)


@named
def forecasts(world: World) -> None:
    """Give the example with earlier runs, so that their logs tell what the next one takes."""
    ledger(world)
    world.write("santiago.toml", "[policy]\njobs = 2\n")
    plant(world.repo, 4)


def drafts() -> list[Play]:
    """Return what an agent drafts: the document's own stories, or refunds, with an e-mail where that is asked for."""
    greeters, refunds = texts.plan(*texts.GREETERS), texts.plan(*texts.REFUNDS)
    more = texts.plan(*texts.REFUNDS, texts.E_MAIL)
    drafting = [
        ("e-mail", more),
        ("document that all of it", greeters),
        ("# Merge", refunds),
        ("# Draft a plan", refunds),
    ]
    return [(words, [{"draft": plan}]) for words, plan in drafting]


@named
def planning(world: World) -> None:
    """Add Codex to the small project, so that two agents can plan."""
    claude(world)
    world.agent("codex", *drafts())


@named
def plans(world: World) -> None:
    """Give documents to plan: a long one without checks, and two versions of a short one."""
    stories = "".join(f"### R{number}: Part {number}\n\n- it works\n\n" for number in range(1, 46))
    second = f"{texts.SHOP.replace('by card', 'by invoice')}\n{texts.REFUND}"
    world.commit({"docs/big.md": f"# Big\n\n{stories}", "new.md": second, "old.md": texts.SHOP})
    world.unseen("santiago plan old.md --out-dir old")


@named
def offers(world: World) -> None:
    """Give a Python project whose document names no check."""
    settings = '[project]\nname = "shop"\n\n[tool.ruff]\nline-length = 100\n'
    tests = "def test_a():\n    assert True\n"
    world.commit({"prd.md": texts.SHOP, "pyproject.toml": settings, "tests/test_a.py": tests})


@named
def hello(world: World, *plays: Play) -> None:
    """Give a document of two stories, programs that carry it out, or do nothing of use, and Claude Code."""
    world.commit({"prd.md": texts.HELLO, "worker.sh": texts.WORKER, "idler.sh": texts.IDLER})
    world.unseen("chmod +x worker.sh idler.sh && git commit -q -am 'They are programs'")
    works: list[Play] = [("S1", [{"write": {"hello.txt": "hello\n"}}]), ("S2", [{"write": {"bye.txt": "goodbye\n"}}])]
    world.agent("claude", *plays, *works)


@named
def postgres(world: World) -> None:
    """Give two stories that can be worked on side by side, Claude Code, and a PostgreSQL."""
    pair(world, servers.missing_postgres(), servers.postgres, "postgresql://santiago@127.0.0.1:{}/postgres")


@named
def temporal(world: World) -> None:
    """Give the same with a Temporal."""
    pair(world, servers.missing_temporal(), servers.temporal, "temporal://127.0.0.1:{}/santiago")


def pair(world: World, missing: str, make: Callable[[Path], servers.Server], url: str) -> None:
    if missing:
        pytest.skip(missing)
    hello(world)
    world.commit({"prd.md": texts.SIDE_BY_SIDE})
    folder = TemporaryDirectory(prefix="santiago-")  # those of pytest are closed to the server's user
    server = make(Path(folder.name))
    atexit.register(folder.cleanup)
    atexit.register(server.kill)
    server.start()
    world.variables |= {"SANTIAGO_ENGINE": url.format(server.port), "SANTIAGO_REMOTE": str(world.home / "greeter.git")}


@named
def steps(world: World) -> None:
    """Give a plan of two steps and its tests, and Claude Code, which plans a step in detail before it does it."""
    world.commit({"plan.md": texts.STEPS, "test_it.py": texts.GREETER_TESTS})
    detail = {"objective": "hello() says hello", "create": ["greeter.py"], "actions": ["write hello() in greeter.py"]}
    world.agent("claude", ("Story S1, proposal", [{"draft": {**detail, "checks": [f"{texts.GREETER_CHECK}_hello"]}}]))


@named
def approval(world: World) -> None:
    """Give a document with one command too many."""
    hello(world)
    world.commit({"prd.md": texts.HELLO.replace("`grep goodbye", "`grep nowhere bye.txt`, `grep goodbye")})


@named
def limited(world: World) -> None:
    """Let Claude Code be refused once, for two seconds."""
    refused = {"fails": "API Error: rate limited, try again in 2 seconds"}
    hello(world, ("S1", [refused, {"write": {"hello.txt": "hello\n"}}]))


@named
def limited_for_long(world: World) -> None:
    """Let Claude Code be refused for days."""
    hello(world, ("S1", [{"fails": "API Error: rate limited, try again in 3 days"}]))


@named
def signed_out(world: World) -> None:
    """Let Claude Code have a key that is not valid."""
    hello(world, ("S1", [{"fails": "Invalid API key · Please run /login", "status": 401}]))


@named
def tests_first(world: World) -> None:
    """Give a document that names no check, an agent that writes tests, at the second go, and one that does the work."""
    world.commit({"prd.md": texts.GREET_PRD, "two.py": "TWO = 2\n", "tests/test_two.py": texts.TWO_TEST})
    idle = "def test_greets():\n    assert True\n"
    tests = [{"write": {"tests/test_greet.py": text}} for text in (idle, texts.GREET_TEST)]
    world.agent("writer.py", ("S1", tests))
    world.agent("worker.py", ("S1", [{"write": {"greet.py": texts.GREET}}]))
    world.unseen("mv ~/.local/bin/*.py .")
    world.commit()


@named
def repaired(world: World) -> None:
    """Let Claude Code get the first story wrong at first."""
    hello(world, ("S1", [{"write": {"hello.txt": "helo\n"}}, {"write": {"hello.txt": "hello\n"}}]))


@named
def stuck(world: World) -> None:
    """Give a board whose first ticket used up its attempts."""
    hello(world, ("S1", [{"write": {"nothing.txt": "nothing\n"}}]))
    world.unseen("santiago run prd.md --enqueue && santiago loop --trust-commands || true")


@named
def by_hand(world: World) -> None:
    """Give a program that does not greet yet, and the test that asks for it."""
    world.commit(
        {
            "tests/__init__.py": "",
            "tests/test_hello.py": texts.HELLO_TEST,
            "hello.py": "def hello():\n    return None\n",
        }
    )


@named
def governed(world: World) -> None:
    """Give a shop with a product truth and two scenarios, one of which the last commit concerns."""
    product.make(world.repo)
    world.unseen("echo hello 5 >> hello.txt && git commit -q -am 'One more'")


def numbers(world: World, *turns: dict[str, Any], test: str = texts.NUMBERS_TEST) -> None:
    """Give a module with its tests, a document that asks for more of it, and Claude Code, which does that."""
    world.commit({"prd.md": texts.NUMBERS, "numbers_.py": texts.TWICE, "test_numbers.py": test})
    world.agent("claude", ("S1", list(turns)))


@named
def adds(world: World) -> None:
    """Let the agent add a function with its test, and name that as evidence."""
    files = {"numbers_.py": texts.TWICE + texts.ADD, "test_numbers.py": texts.NUMBERS_TEST + texts.ADD_TEST}
    numbers(world, {"write": files, "draft": {"R1#1": "test_numbers.Numbers.test_add"}})


@named
def other_expectation(world: World) -> None:
    """Let the agent change what a test expects."""
    files = {
        "numbers_.py": (texts.TWICE + texts.ADD).replace("2 *", "3 *"),
        "test_numbers.py": texts.NUMBERS_TEST.replace("4)", "6)"),
    }
    numbers(world, {"write": files})


@named
def doubted(world: World) -> None:
    """Let the agent write a line that could deceive the tests."""
    numbers(
        world,
        {
            "write": {
                "numbers_.py": texts.TWICE + texts.ADD + texts.LEAVES,
                "test_numbers.py": texts.NUMBERS_TEST + texts.ADD_TEST,
            }
        },
    )


@named
def lacking(world: World) -> None:
    """Give a test that imports a requirement which is not installed."""
    world.write("requirements.txt", "requests\n")
    numbers(world, test=f"import requests\n{texts.NUMBERS_TEST}")


@named
def versioned(world: World) -> None:
    """Give a project whose module loads a file that a build wrote and git ignores."""
    files = {
        "shop.py": f"from version import VERSION\n\n{texts.TWICE}",
        "test_shop.py": texts.SHOP_TEST,
        ".gitignore": "version.py\n",
    }
    world.commit(files)
    world.write("version.py", 'VERSION = "1.2"\n')


@named
def distrusted(world: World) -> None:
    """Give a repository whose settings start a program and turn the sandbox off."""
    world.commit({"docs/prd.md": texts.HELLO, "tools/agent.sh": texts.WORKER, "santiago.toml": texts.LOOSE})
    world.unseen("chmod +x tools/agent.sh && git commit -q -am 'A program'")


@named
def project(world: World) -> None:
    """Give a Python project with tests, and a linter in its settings."""
    settings = '[project]\nname = "shop"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n\n[tool.ruff]\nline-length = 100\n'
    world.commit(
        {
            "docs/prd.md": texts.SHOP,
            "pyproject.toml": settings,
            "shop.py": texts.TWICE,
            "tests/test_shop.py": texts.SHOP_TEST,
        }
    )


@named
def just(world: World) -> None:
    """Give a project whose tests need a program that is not installed."""
    world.commit({"justfile": "test:\n    pytest -q\n"})


@named
def looking(world: World) -> None:
    """Give the example, and Claude Code, which needs a third attempt at the first story and says how it works."""
    ledger(world)
    world.unseen("git rm -q playbook.yaml && git commit -q -m 'No playbook'")
    wrong, right = PLAYBOOK["R1"]
    first = {**wrong, "tokens": 12_100, "cost": 0.11, "tools": texts.TOOLS[:4], "draft": texts.EVIDENCE}
    third = {**right, "tokens": 41_230, "cost": 0.41, "tools": texts.TOOLS, "draft": texts.EVIDENCE}
    others = [(f"S{number}", turns) for number, turns in enumerate(PLAYBOOK.values(), 1)]
    world.agent("claude", ("S1", [first, first, third]), *others)


@named
def at_work(world: World) -> None:
    """Let Claude Code take its time."""
    ledger(world)
    doing = [
        {"tools": tools, "sleep": 300} for tools in (texts.TOOLS[:4], [("Read", {"file_path": "ledger/entry.py"})])
    ]
    world.agent("claude", ("S1", doing[:1]), ("S2", doing[1:]))


@named
def machine(world: World) -> None:
    """Give a machine with two agents, of which one is not signed in, and checks of every kind."""
    checks = '["python3 -m pytest -q", "ruff-of-old check .", "true"]'
    world.commit(
        {
            "numbers_.py": texts.TWICE,
            "tests/test_numbers.py": texts.SHOP_TEST.replace("shop", "numbers_") + texts.RED_TEST,
        }
    )
    world.agent("claude", ("", [{"say": "ready"}]))
    refused = "Reconnecting... waiting for network (Connection failed: error sending request)"
    world.agent("codex", ("", [{"fails": refused}]))
    del world.variables["OPENAI_API_KEY"]
    world.write("~/checks.toml", f"[verification]\nstory_commands = {checks}\n")


@named
def agents(world: World) -> None:
    """Add more agents to the small project: Codex, one of the reader's own, and one that prints the lines of the page."""
    claude(world)
    world.agent("codex", *texts.GREETS)
    world.agent("my-agent", *texts.GREETS)
    world.agent("robo", *texts.GREETS)
    world.variables["ROBO_API_KEY"] = KEY
    world.unseen("santiago init && git add -A && git commit -q -m 'Set santiago up'")
