"""`santiago init` writes the check that it has seen run on the last commit, with the set-up that it needed, and no other."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli import greeter
from tests.cli.inside import Told, inside

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="no npm here")

SHOP = "def price():\n    return 3\n"
WITH_PYTEST = "from shop import price\n\ndef test_price():\n    assert price() == 3\n"
WITH_UNITTEST = """\
import unittest

from shop import price


class Price(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(), 3)
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def committed(tmp_path: Path, files: dict[str, str]) -> Path:
    return greeter.committed(tmp_path / "repo", {"README.md": "A shop\n", **files})


def environment(folder: Path, **modules: str) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name, text in modules.items():
        (packages / name).mkdir()
        (packages / name / "__init__.py").write_text("")
        (packages / name / "__main__.py").write_text(text)
    return folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables of a machine whose python has no pytest."""
    python = environment(tmp_path_factory.mktemp("bare") / "python")
    return {"PATH": f"{python}/bin:{os.environ['PATH']}"}


def written(repo: Path) -> dict[str, Any]:
    return tomllib.loads((repo / "santiago.toml").read_text())


def init(repo: Path, *words: str, env: dict[str, str] | None = None) -> Told:
    done = inside("init", *words, cwd=repo, env=env)
    assert not list((repo.parent / "cache").rglob("trying-*")), "checkouts were left behind"
    return done


def test_a_check_that_runs_on_the_last_commit_is_written_of_two_the_one_that_finds_tests(tmp_path: Path) -> None:
    repo = committed(tmp_path, {"shop.py": SHOP, "test_shop.py": WITH_UNITTEST})
    (repo / "shop.py").write_text("broken(\n")
    done = init(repo)
    assert done.returncode == 0, done.stderr
    assert written(repo)["verification"]["story_commands"] == ["python3 -m unittest discover"]
    assert "python3 -m unittest discover\n      runs: 1 test passes" in done.stderr
    assert "`python3 -m unittest discover` runs: 1 test passes" in (repo / "santiago.toml").read_text()
    assert "there are uncommitted changes, such as shop.py, which no checkout has" in done.stderr
    repo = committed(tmp_path / "two", {"shop.py": SHOP, "tests/test_shop.py": WITH_UNITTEST})
    init(repo)
    assert written(repo)["verification"]["story_commands"] == ["python3 -m unittest discover -s tests"]


def test_the_virtual_environment_of_the_repository_comes_first(tmp_path: Path, bare: dict[str, str]) -> None:
    """The program in it says which python ran it, and that it saw the files of the checkout."""
    runner = "import pathlib, sys\nimport shop\nassert '.venv' in sys.prefix\nsys.exit(shop.price() != 3)\n"
    repo = committed(tmp_path, {"shop.py": SHOP, "test_shop.py": WITH_PYTEST, ".gitignore": ".venv\n"})
    environment(repo / ".venv", pytest=runner)
    done = init(repo, env=bare)
    assert written(repo)["verification"]["story_commands"] == [".venv/bin/python -m pytest -q"], done.stderr
    assert written(repo)["workspace"] == {"setup": []}


def test_an_environment_of_another_name_is_provided(tmp_path: Path, bare: dict[str, str]) -> None:
    runner = "import sys\nimport shop\nsys.exit(shop.price() != 3)\n"
    repo = committed(tmp_path, {"shop.py": SHOP, "test_shop.py": WITH_PYTEST, ".gitignore": "env-311\n"})
    environment(repo / "env-311", pytest=runner)
    done = init(repo, env=bare)
    assert written(repo)["verification"]["story_commands"] == ["env-311/bin/python -m pytest -q"], done.stderr
    assert written(repo)["workspace"]["provide"] == [".venv", "venv", "node_modules", "vendor", "env-311"]


def test_a_red_check_is_written_with_the_tests_that_fail(tmp_path: Path) -> None:
    repo = committed(tmp_path, {"shop.py": SHOP.replace("3", "4"), "test_shop.py": WITH_UNITTEST})
    done = init(repo, "--json")
    (tried,) = json.loads(done.stdout)["tried"]
    assert (tried["state"], tried["red"]) == ("red", ["test_shop.Price.test_price"])
    assert written(repo)["verification"]["story_commands"] == ["python3 -m unittest discover"]
    assert (
        "runs, but 1 of 1 test fails before any work: test_shop.Price.test_price"
        in (repo / "santiago.toml").read_text()
    )


@needs_npm
def test_packages_that_are_missing_are_installed_by_the_set_up_that_is_written(tmp_path: Path) -> None:
    package = {"name": "shop", "scripts": {"test": "check-shop"}, "devDependencies": {"check-shop": "file:./tool"}}
    tool = {"name": "check-shop", "version": "1.0.0", "bin": "check.js"}
    check = "#!/usr/bin/env node\nprocess.exit(require(process.cwd() + '/shop.js') === 3 ? 0 : 1)\n"
    files = {"package.json": json.dumps(package), "shop.js": "module.exports = 3\n", ".gitignore": "node_modules\n"}
    files |= {"tool/package.json": json.dumps(tool), "tool/check.js": check}
    repo = committed(tmp_path, files)
    (repo / "tool/check.js").chmod(0o755)
    greeter.git(repo, "commit", "-q", "-a", "-m", "A program")
    done = init(repo)
    assert written(repo)["verification"]["story_commands"] == ["npm test"], done.stderr
    assert written(repo)["workspace"]["setup"] == ["npm install"]
    assert "after set-up, with the network: npm install" in done.stderr
    assert not (repo / "node_modules").exists()

    subprocess.run(["npm", "install", "--silent"], cwd=repo, check=True)
    again = init(repo, "--force")
    assert written(repo)["workspace"]["setup"] == [], again.stderr


def test_what_is_proposed_for_a_check_that_cannot_run_is_tried(tmp_path: Path, bare: dict[str, str]) -> None:
    files = {"shop.py": SHOP, "Makefile": "test:\n\tpython3 -m pytest -q\n", ".gitignore": ".venv\n"}
    repo = committed(tmp_path, files)
    environment(repo / ".venv", pytest="import sys\nimport shop\nsys.exit(shop.price() != 3)\n")
    done = init(repo, env=bare)
    assert "make test\n      cannot run here: the Python module `pytest` is missing" in done.stderr
    assert written(repo)["verification"]["story_commands"] == ['PATH="$PWD/.venv/bin:$PATH" make test']


def test_a_check_of_which_nothing_passes_is_tried_with_extras(tmp_path: Path, bare: dict[str, str]) -> None:
    """No name in the repository tells that the module which is missing comes with one of its requirements."""
    tests = f"import shoptool\n{WITH_UNITTEST}"
    repo = committed(tmp_path, {"shop.py": SHOP, "test_shop.py": tests, "requirements.txt": "tool-for-shops\n"})
    wheel(repo / "wheels", "tool_for_shops", "shoptool")
    greeter.git(repo, "add", "-A")
    greeter.git(repo, "commit", "-q", "-m", "Wheels")
    done = init(repo, env={**bare, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "wheels"})
    assert "python3 -m unittest discover\n      runs, but 1 of 1 test fails before any work: test_shop" in done.stderr
    assert written(repo)["verification"]["story_commands"] == [".venv/bin/python -m unittest discover"], done.stderr
    setup = "python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt"
    assert written(repo)["workspace"]["setup"] == [setup]
    assert not (repo / ".venv").exists()


def wheel(folder: Path, name: str, module: str) -> None:
    folder.mkdir()
    about = f"{name}-1.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as file:
        file.writestr(f"{module}.py", "")
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "")


def test_each_part_of_a_monorepo_gets_its_check(tmp_path: Path) -> None:
    files = {f"{part}/{name}": text for part in ("bar", "foo") for name, text in
             (("shop.py", SHOP), ("test_shop.py", WITH_UNITTEST))}  # fmt: skip
    repo = committed(tmp_path, files)
    done = init(repo)
    checks = [f"cd {part} && python3 -m unittest discover" for part in ("bar", "foo")]
    assert written(repo)["verification"]["story_commands"] == checks, done.stderr


def test_what_the_authors_use_is_enough_where_it_works_and_else_another_way_is_found(tmp_path: Path) -> None:
    files = {"shop.py": SHOP, "test_shop.py": WITH_UNITTEST, "Makefile": "test:\n\tpython3 -m unittest -q\n"}
    repo = committed(tmp_path, files)
    init(repo)
    assert written(repo)["verification"]["story_commands"] == ["make test"]
    files = {"shop.py": SHOP, "test_shop.py": WITH_UNITTEST, "Makefile": "test:\n\tno-such-prog\n"}
    repo = committed(tmp_path / "two", files)
    done = init(repo)
    assert "the program `no-such-prog` is missing" in done.stderr
    assert written(repo)["verification"]["story_commands"] == ["python3 -m unittest discover"]


@pytest.mark.parametrize(
    ("files", "check"),
    [
        ({"shop.py": SHOP}, "python3 -m unittest discover"),
        ({"package.json": '{"name": "shop", "scripts": {"build": "true"}}'}, "node --test"),
    ],
)
def test_without_tests_the_usual_runner_is_written(files: dict[str, str], check: str, tmp_path: Path) -> None:
    if shutil.which(check.split()[0]) is None:
        pytest.skip(f"no {check.split()[0]} here")
    repo = committed(tmp_path, files)
    done = init(repo)
    assert written(repo)["verification"]["story_commands"] == [check], done.stderr
    assert f"{check}\n      runs, and finds no test yet" in done.stderr
    assert "there are no tests yet: each story brings its own" in done.stdout


def test_what_cannot_be_made_to_run_is_told_in_the_file_and_neither_it_nor_a_blind_check_is_set(tmp_path: Path) -> None:
    repo = committed(tmp_path, {"justfile": "test:\n  no-such-prog\n"})
    done = init(repo, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 0
    assert written(repo)["verification"]["story_commands"] == []
    assert "# `just test` cannot run here: the program `just` is missing" in (repo / "santiago.toml").read_text()
    assert "No test command could be made to run." in done.stdout
    assert "fix: Install it" in done.stdout
    assert done.stdout.splitlines()[-1].strip() == 'santiago run YOUR-PRD.md --verify "CMD"'
    repo = committed(tmp_path / "two", {"shop.py": SHOP, "Makefile": "test:\n\t@echo all is well\n"})
    done = init(repo)
    assert (written(repo)["verification"]["story_commands"], "shows nothing" in done.stderr) == ([], True)


def test_what_was_tried_in_vain_is_no_remedy(tmp_path: Path) -> None:
    library = committed(tmp_path / "lib", {"lib.py": "def price(): return 3\n"})
    repo = committed(tmp_path, {"test_shop.py": "import sys, unittest\nsys.path.insert(0, 'parts')\nimport lib\n"})
    greeter.git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "parts")
    greeter.git(repo, "commit", "-q", "-m", "parts")
    done = init(repo)  # where the submodule comes from is not seen in a checkout
    assert "note: submodules are empty folders in every checkout: parts" in done.stderr
    assert "after set-up, with the network: git submodule update" in done.stderr
    assert "ended with exit" in done.stderr
    assert "No test command could be made to run." in done.stdout
    assert "git submodule update" not in done.stdout, "it was just seen to fail"


def test_a_named_check_that_cannot_judge_is_refused_and_one_that_runs_is_written(tmp_path: Path) -> None:
    repo = committed(tmp_path, {"shop.py": SHOP})
    for check, says, reason in (
        ("no-such-prog x", "the program `no-such-prog` is missing", "verification_unrunnable"),
        ("true", "shows nothing", "nothing_verified"),
        ("./nowhere.sh", "nowhere.sh: not found", "verification_unrunnable"),
    ):
        done = init(repo, "--verify", check, "--json")
        error = json.loads(done.stdout)["error"]
        assert (done.returncode, error["reason"], says in error["message"]) == (10, reason, True), error
        assert not (repo / "santiago.toml").exists()
    check = "python3 -c 'import shop; assert shop.price() == 3'"
    assert init(repo, "--verify", check).returncode == 0
    assert written(repo)["verification"]["story_commands"] == [check]


@pytest.mark.parametrize(
    ("script", "check"),
    [
        ("vitest", "npx vitest run"),
        ("vitest --coverage --run", "npx vitest --coverage --run"),
        ("TZ=UTC vitest watch --config a.js", "TZ=UTC npx vitest run --config a.js"),
        ("jest --watchAll --silent", "npx jest --silent"),
        # more than the runner: where it would wait for changes, it is told that this is CI
        ("vitest && npm run lint", "CI=true npm test"),
        ("vitest run && npm run lint", "npm test"),
        ("react-scripts test", "CI=true npm test"),
        ("node --test", "npm test"),
    ],
)
def test_a_runner_is_asked_for_one_pass_and_by_its_name_where_a_script_does_nothing_else(
    script: str, check: str, tmp_path: Path
) -> None:
    repo = committed(tmp_path, {"package.json": json.dumps({"scripts": {"test": script}})})
    init(repo, "--no-try")
    assert written(repo)["verification"]["story_commands"] == [check]


def test_without_trying_the_file_says_that_nobody_has_seen_it_run(tmp_path: Path) -> None:
    repo = committed(tmp_path, {"justfile": "test:\n  no-such-prog\n"})
    done = init(repo, "--no-try", env={"PATH": "/usr/bin:/bin"})
    assert (done.stderr, written(repo)["verification"]["story_commands"]) == ("", ["just test"])
    assert "# They have not been run yet (`santiago init --no-try`)" in (repo / "santiago.toml").read_text()


def test_without_a_commit_the_remedy_is_said_and_only_an_empty_repository_is_set_up(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("def test_x(): ...\n")
    outside = init(tmp_path)
    greeter.git(tmp_path, "init", "-q")
    unborn = init(tmp_path)
    assert (outside.returncode, "this is not a git repository" in outside.stderr) == (30, True)
    assert (unborn.returncode, "there is no commit yet" in unborn.stderr) == (30, True)
    assert "`santiago init --no-try`" in unborn.stderr
    assert not (tmp_path / "santiago.toml").exists()
    (tmp_path / "test_x.py").unlink()
    done = init(tmp_path)
    assert (done.returncode, "No test command was found." in done.stdout) == (0, True)
    assert written(tmp_path)["verification"]["story_commands"] == []


def test_a_file_that_is_there_stays_and_a_damaged_one_can_be_replaced(tmp_path: Path) -> None:
    repo = committed(tmp_path, {"shop.py": SHOP, "test_shop.py": WITH_UNITTEST, "santiago.toml": "x = [\n"})
    assert init(repo).returncode == 2
    assert (repo / "santiago.toml").read_text() == "x = [\n"
    assert init(repo, "--force").returncode == 0
    assert written(repo)["verification"]["story_commands"] == ["python3 -m unittest discover"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_that_is_stopped_leaves_nothing_behind(number: signal.Signals, code: int, tmp_path: Path) -> None:
    repo = committed(tmp_path, {"shop.py": SHOP})
    words = ["init", "--verify", "cat shop.py && sleep 1000"]
    with subprocess.Popen(
        [sys.executable, "-m", "santiago", *words], cwd=repo, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a suite in the background has it ignored
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert any("sleep 1000" in line for line in process.stderr)
        process.send_signal(number)
        assert process.wait(60) == code
    assert not (repo / "santiago.toml").exists()
    assert not list((tmp_path / "cache").rglob("trying-*"))
