"""A check that is red because of its environment stops the run before the first attempt, with the line that helps.

What it lacks is found by lending it to a checkout; a check that is red because of the code is left to the stories.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from santiago.app.settings_file import with_settings
from tests.cli import greeter
from tests.cli.inside import inside
from tests.cli.santiago import santiago
from tests.cli.typing_person import Person
from tests.util.each import each

PRD = "# PRD: Shop\n\n### R1: Double\n\nThe shop doubles a price.\n\n- [ ] double(2) is 4\n"
SHOP = "def price():\n    return 3\n"
TEST = "import unittest\nfrom shop import price\n\n\nclass Price(unittest.TestCase):\n    def test_price(self):\n        self.assertEqual(price(), 3)\n"
WORK = {
    "shop.py": SHOP + "\n\ndef double(n):\n    return 2 * n\n",
    "test_double.py": TEST.replace("price()", "double(2) - 1").replace("price", "double"),
}
CHECK = "python3 -m unittest -q"
FILES = {"shop.py": SHOP, "test_shop.py": TEST}


def needing(*lines: str) -> dict[str, str]:
    """Return the files of a shop whose module begins with these lines."""
    return {**FILES, "shop.py": "\n".join([*lines, SHOP])}


def shop(
    folder: Path,
    files: dict[str, str],
    check: str = CHECK,
    work: dict[str, str] | None = None,
    *,
    sandbox: str = "off",
    prd: str = PRD,
) -> Path:
    settings = f'[verification]\nstory_commands = [{json.dumps(check)}]\n[agent]\nmode = "scripted"\nplaybook = "playbook.json"\n'
    settings += f'[limits]\nstory_max_attempts = 2\n[policy]\nsandbox = "{sandbox}"\n'
    playbook = json.dumps({"stories": {"R1": [{"write": work or WORK}]}})
    return greeter.committed(
        folder / "repo", {**files, "prd.md": prd, "playbook.json": playbook, "santiago.toml": settings}
    )


def carried_out(repo: Path, **env: str) -> tuple[int, int, dict[str, Any]]:
    """Run the document; return the exit code, the number of attempts, and what the examination of the base says."""
    done = santiago("run", "prd.md", "--trust-commands", cwd=repo, env={**greeter.place(repo), **env})
    lines = (greeter.out_dir(repo) / "progress.ndjson").read_bytes().splitlines()
    events = [(event["event"], event["context"]) for event in map(json.loads, lines)]
    attempts = sum(event == "attempt_started" for event, _ in events)
    return done.returncode, attempts, next(context for event, context in events if event == "base_examined")


IN_LIB = {"lib/shop.py": SHOP, "test_shop.py": TEST}
MAKEFILE = "build:\n\tmkdir -p dist && cp lib/shop.py dist/\ntest:\n\tPYTHONPATH=dist python3 -m unittest -q\n"


@each(
    ("files", "check", "made", "env", "lacks", "helps"),
    [
        (needing("import version"), CHECK, ["version.py"], {}, "version.py, which git ignores", 'copy = [".env", "version.py"]'),
        (needing("open('.env.test')"), CHECK, [".env.test"], {}, ".env.test, which", 'copy = [".env", ".env.test"]'),
        (needing("from gen import api"), CHECK, ["gen/api.py", "gen/other.py"], {}, "gen, a folder", '"vendor", "gen"]'),
        (needing("import helper"), CHECK, ["helper.py"], {}, "helper.py, which is not committed", "`git add helper.py && git commit`"),
        ({"src/shop.py": SHOP, "test_shop.py": TEST}, CHECK, [], {"PYTHONPATH": "src"}, "the variable PYTHONPATH", 'env = ["PYTHONPATH"]'),
        ({"src/shop.py": SHOP, "test_shop.py": TEST}, CHECK, [], {}, "the modules in src", f"`PYTHONPATH=src {CHECK}` as the check"),
        ({**IN_LIB, "Makefile": MAKEFILE}, "make test", [], {}, "dist, build output", "`make build && make test`"),
        ({**IN_LIB, "Makefile": MAKEFILE.replace("dist", "gen")}, "make test", ["gen/old.py"], {}, "gen, build output", "`make build &&"),
    ],
)  # fmt: skip
def test_what_a_red_check_lacks_is_named_before_the_first_attempt(
    files: dict[str, str], check: str, made: list[str], env: dict[str, str], lacks: str, helps: str, tmp_path: Path
) -> None:
    """A file or folder that git ignores, one that is not committed, a variable, what is installed or built elsewhere."""
    ignore = "version.py\n.env*\ngen/\ndist/\nnotes*\n"
    repo = shop(tmp_path, {**files, ".gitignore": ignore}, check)
    for name in (*made, "notes-1", "notes-2"):
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text("X = 1\n")
    code, attempts, told = carried_out(repo, **env)
    assert (code, attempts, told["reason"]) == (10, 0, "verification_unrunnable")
    assert lacks in told["message"]
    assert helps in told["hint"]
    assert "notes" not in told["message"] + told["hint"], "what makes no difference is not named"
    assert not list((tmp_path / "cache").rglob("environment*")), "checkouts were left behind"


def test_with_the_line_that_was_proposed_the_run_succeeds(tmp_path: Path) -> None:
    """`copy` also reaches folders that git ignores as a whole."""
    files = needing("import version", "open('conf/local/a.txt')")
    repo = shop(
        tmp_path,
        {**files, ".gitignore": "version.py\nconf\n"},
        work={**WORK, "shop.py": files["shop.py"] + WORK["shop.py"]},
    )
    (repo / "conf/local").mkdir(parents=True)
    for name in ("version.py", "conf/local/a.txt"):
        (repo / name).write_text("X = 1\n")
    text = (repo / "santiago.toml").read_text()
    (repo / "santiago.toml").write_text(f'{text}[workspace]\ncopy = [".env", "version.py", "conf"]\n')
    assert carried_out(repo)[:2] == (0, 1)
    assert greeter.git(repo, "diff", "--name-only", "main", f"santiago/{greeter.out_dir(repo).name}").split() == [
        "shop.py",
        "test_double.py",
    ]


@each(
    ("ignored", "mends", "because"),
    [
        ("version.py\n", ["santiago.toml"], "settings have changed since the run began: workspace.copy"),
        ("", ["version.py"], "your branch has moved since it began"),
    ],
)
def test_a_run_that_spent_nothing_begins_anew_with_what_was_mended_and_without_a_change_goes_on(
    ignored: str, mends: list[str], because: str, tmp_path: Path
) -> None:
    """Whoever writes the line that a run ended without types `run` again, and means that line."""
    files = needing("import version")
    work = {**WORK, "shop.py": files["shop.py"] + WORK["shop.py"]}
    repo = shop(tmp_path, {**files, ".gitignore": ignored}, work=work)
    (repo / "version.py").write_text("X = 1\n")

    def again() -> tuple[int, str, int]:
        done = santiago("run", "prd.md", "--trust-commands", "--trust-project", cwd=repo, env=greeter.place(repo))
        return done.returncode, done.stderr, len(list((repo / ".santiago/runs").iterdir()))

    assert again()[::2] == (10, 1)
    assert again()[::2] == (10, 1), "nothing was mended"
    with (repo / "santiago.toml").open("a") as settings:
        settings.write('[workspace]\ncopy = [".env", "version.py"]\n' if ignored else "")
    greeter.git(repo, "add", *mends)
    greeter.git(repo, "commit", "-qm", "mended")
    code, told, runs = again()
    assert (code, runs, because in told) == (0, 2, True), told


def test_where_several_things_are_lacking_all_are_named_and_after_a_set_up_folders_are_copied(tmp_path: Path) -> None:
    """The set-up makes the checkout's dependencies, so that none of the user's folders are there."""
    files = {
        **needing("from gen import api"),
        "test_more.py": TEST.replace("from shop import price", "import version\nprice = lambda: 3"),
    }
    repo = shop(tmp_path, {**files, ".gitignore": "version.py\ngen/\n"})
    (repo / "gen").mkdir()
    for name in ("version.py", "gen/api.py"):
        (repo / name).write_text("X = 1\n")
    with (repo / "santiago.toml").open("a") as settings:
        settings.write('[workspace]\nsetup = ["true"]\n')
    code, attempts, told = carried_out(repo)
    assert (code, attempts) == (10, 0)
    assert 'copy = [".env", "gen", "version.py"]' in told["hint"]


def test_what_is_red_for_the_code_or_only_unsteady_is_not_called_environment(tmp_path: Path) -> None:
    """Everything that could be lent is lent to it in vain; a check that passes the second time lacks nothing."""
    red = {**FILES, "shop.py": SHOP.replace("3", "4"), ".gitignore": "notes.txt\n"}
    repo = shop(tmp_path, red, work={"shop.py": SHOP})
    (repo / "notes.txt").write_text("x\n")
    code, attempts, told = carried_out(repo, PYTHONPATH="/nowhere")
    assert (code, attempts, told.get("reason"), told["tests"]) == (0, 1, None, ["test_shop.Price.test_price"])
    seen = tmp_path / "seen"
    unsteady = f"test -e {seen} || {{ touch {seen}; exit 1; }}; {CHECK}"
    repo = shop(tmp_path / "two", {**FILES, ".gitignore": "notes.txt\n"}, unsteady)
    (repo / "notes.txt").write_text("x\n")
    assert carried_out(repo)[2].get("reason") is None


def test_a_variable_that_the_repository_names_is_lent_inside_a_sandbox_and_a_secret_never(tmp_path: Path) -> None:
    repo = shop(tmp_path, needing("import os", "assert os.environ['SHOP_URL']"), sandbox="auto")
    code, attempts, told = carried_out(repo, SHOP_URL="x", SHOP_OTHER="y")
    assert (code, attempts, 'env = ["SHOP_URL"]' in told["hint"]) == (10, 0, True)
    repo = shop(tmp_path / "two", needing("import os", "os.environ['SHOP_TOKEN']"), sandbox="auto")
    code, attempts, told = carried_out(repo, SHOP_TOKEN="abcdefgh12345678")
    assert (code, attempts, "never given secrets" in told["hint"]) == (10, 0, True)


@pytest.mark.parametrize("populated", [True, False])
def test_a_submodule_that_a_check_needs_is_named_with_the_set_up(populated: bool, tmp_path: Path) -> None:
    source = greeter.committed(tmp_path / "source", {"lib.py": "X = 1\n"})
    repo = shop(tmp_path, needing("from libs import lib"))
    greeter.git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), "libs")
    greeter.git(repo, "commit", "-q", "-m", "With a submodule")
    if not populated:
        greeter.git(repo, "submodule", "deinit", "-q", "-f", "libs")
    code, attempts, told = carried_out(repo)
    assert (code, attempts, "libs, a submodule" in told["message"]) == (10, 0, True)
    assert 'setup = ["git submodule update --init --recursive"]' in told["hint"]


def test_init_writes_what_a_check_was_seen_to_lack(tmp_path: Path) -> None:
    repo = greeter.committed(tmp_path / "repo", {**needing("import version"), ".gitignore": "version.py\n"})
    (repo / "version.py").write_text("X = 1\n")
    inside("init", cwd=repo, env=greeter.place(repo), code=0)
    written = tomllib.loads((repo / "santiago.toml").read_text())
    assert written["verification"]["story_commands"] == ["python3 -m unittest discover"]
    assert written["workspace"] == {"setup": [], "copy": [".env", "version.py"]}
    assert "fails" not in (repo / "santiago.toml").read_text()


@each(
    ("files", "work", "line"),
    [
        ({"requirements.txt": ""}, {"requirements.txt": "no-such-thing\n"}, "pip install -q -r requirements.txt"),
        ({"pyproject.toml": "[project]\nname = 'a'\n"}, {"pyproject.toml": "[project]\nname = 'a'\ndependencies = ['b']\n"}, "pip install -q -e ."),
        ({"pytest.ini": "", "pyproject.toml": ""}, {"pyproject.toml": "[project]\nname = 'a'\ndependencies = ['b']\n"}, "pip install -q -e . pytest"),
    ],
)  # fmt: skip
def test_work_that_asks_for_a_package_is_blocked(
    files: dict[str, str], work: dict[str, str], line: str, tmp_path: Path
) -> None:
    repo = shop(
        tmp_path, {**FILES, **files}, work={**WORK, "shop.py": f"import no_such_thing\n{WORK['shop.py']}", **work}
    )
    santiago("run", "prd.md", cwd=repo, env=greeter.place(repo), code=10)
    result = json.loads((greeter.out_dir(repo) / "result.json").read_bytes())
    assert (result["reason"], result["usage"]["attempts"]) == ("verification_unrunnable", 1)
    lines = (greeter.out_dir(repo) / "progress.ndjson").read_bytes().splitlines()
    (blocked,) = [event["context"] for event in map(json.loads, lines) if event["event"] == "story_blocked"]
    assert line in blocked["hint"]
    for command in ("explain S1", "status"):
        assert line in santiago(*command.split(), cwd=repo, env=greeter.place(repo)).stdout, command


NAMED = PRD + "\n**Verification:** `python3 -m unittest tests/test_double.py`\n"


@each(
    ("files", "prd", "work", "expected"),
    [
        ({}, NAMED, {**WORK, "tests/test_double.py": WORK["test_double.py"]}, (0, 1)),
        ({}, NAMED, WORK, (10, 1)),  # it is asked about after the first attempt that leaves it absent
        ({"tests/unit/test_double.py": TEST}, NAMED, WORK, (10, 0)),  # perhaps this one is meant
        ({"a/test_double.py": TEST}, NAMED + "\n**Files:** `tests/test_double.py`\n", {**WORK, "tests/test_double.py": WORK["test_double.py"]}, (0, 1)),
    ],
)  # fmt: skip
def test_a_test_file_that_the_document_names_may_come_with_the_work(
    files: dict[str, str], prd: str, work: dict[str, str], expected: tuple[int, int], tmp_path: Path
) -> None:
    repo = shop(tmp_path, {**FILES, **files}, work=work, prd=prd)
    done = santiago("run", "prd.md", "--trust-commands", "--json", cwd=repo, env=greeter.place(repo))
    assert (done.returncode, done.stdout.count('"attempt_started"')) == expected, done.stdout
    assert ('"needs_user_confirmation"' in done.stdout) == bool(expected[0])


def test_at_a_terminal_the_line_is_offered_written_and_the_run_begins_again(tmp_path: Path) -> None:
    repo = shop(tmp_path, {**needing("import version"), ".gitignore": "version.py\n"})
    (repo / "version.py").write_text("X = 1\n")
    ann = Person("run", "prd.md", "--trust-project", cwd=repo, env=greeter.place(repo))
    ann.sees("Write this to santiago.toml, and begin again? [Y/n]:")
    ann.types("y")
    ann.sees("success")
    assert ann.leaves() == 0
    written = tomllib.loads((repo / "santiago.toml").read_text())
    assert written["workspace"] == {"copy": [".env", "version.py"]}
    assert written["limits"] == {"story_max_attempts": 2}, "everything else stays"


@each(
    ("before", "after"),
    [
        ("", '[workspace]\ncopy = ["a"]\n'),
        ("[limits]\nx = 1\n", '[limits]\nx = 1\n\n[workspace]\ncopy = ["a"]\n'),
        ('[workspace] # mine\ncopy = ["b"]\nenv = []\n', '[workspace] # mine\ncopy = ["a"]\nenv = []\n'),
        ("[workspace]\nenv = []\n[limits]\ncopy = 1\n", '[workspace]\ncopy = ["a"]\nenv = []\n[limits]\ncopy = 1\n'),
        ("[workspace]\ncopy = [\n  'b',\n]\n", None),
    ],
)
def test_a_setting_is_written_where_it_belongs(before: str, after: str | None) -> None:
    assert with_settings(before, [["workspace.copy", "a"]]) == after
