"""Tests, what steers them and the scripts that checks run are the judge; the work that they look at is not."""

import io
import json
import shlex
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from santiago.judge import commandline
from santiago.judge.judge_files import ALL_TESTS, JudgeFiles
from tests.util.each import each

BASE: dict[str, bytes] = {
    "app.py": b"def add(a, b):\n    return a + b\n", "hello.py": b"print('Hello')\n", "src/cli.js": b"", "lib/unit.js": b"", "calc.sh": b"echo 5\n",
    "tests/test_app.py": b"def test_a(): pass\n", "tests/helpers.py": b"", "conftest.py": b"",
    "sums.py": b"import app\n\ndef test_sum():\n    assert app.add(1, 2) == 3\n", "checks/__main__.py": b"", "checks/rules.py": b"",
    "check.sh": b"#!/bin/sh\nsh lib/verify_output.sh\npython app.py\n", "lib/verify_output.sh": b"", "scripts/gen.py": b"", "run.sh": b"",
    "Makefile": b"include mk/rules.mk\n-include values.env own.d/a # b.env\ncheck:\n\tsh check.sh\n",
    "mk/rules.mk": b"", "want.txt": b"5\n", "notes.md": b"", "expected.json": b"{}",
    "package.json": json.dumps({"scripts": {"test": "npm run unit && node scripts/smoke.mjs", "unit": "mocha lib/unit.js", "go": "x"},
                                "exports": {"require": "./index.js"}}).encode(),
    "scripts/smoke.mjs": b"", "web/package.json": b'{"scripts": {"test": "sh all-tests.sh"}}', "web/all-tests.sh": b"",
    "want/deep/a": b"", "data/in.txt": b"2 3", "ask.sh": b'while read a; do [ "$(./calc.sh $a)" = 5 ] || exit 1; done < data/in.txt\n',
    "dev.py": b"import subprocess\nsubprocess.run(['python', '-m', 'unittest'])\n", "says.py": b"import app\nassert app.add(1, 1) == 2\n",
    "guarded.py": b"def f(): ...\n\nif __name__ == '__main__':\n    assert f() is None\n",
    "told.py": b"def test_mode(): ...\n", "run-checks": b"open('checks.ini')\n", "checks.ini": b"",
    "usage.md": b"", "docs/more.rst": b"", "hooks/lines.py": b"", "hooks/first.js": b"", "hooks/world.cjs": b"", "requirements.txt": b"",
    "index.js": b"", "src/hooks/own.py": b"", ".mocharc.json": b'{"require": ["ts-node/register", "./hooks/world.cjs"]}',
    "pytest.ini": b"[pytest]\naddopts = -p hooks.lines -p no:x --doctest-glob='*.rst'\n", "sub/conftest.py": b"pytest_plugins = ['hooks.own']\nrequire = app\n",
    "web/jest.config.js": b"const a = require('./lines.js'), b = require('../src/cli')\nmodule.exports = { setupFiles: ['<rootDir>/../hooks/first'] }\n",
    "tox.ini": b"[testenv]\ndeps = -r requirements.txt\n", "src/build.rs": b"", "web/lines.js": b"", "crate/Cargo.toml": b"",
    "setup.js": b"", "pyproject.toml": b"", "Cargo.toml": b"", ".github/workflows/ci.yml": b"", "jest.config.js": b"", "want.env": b"",
}  # fmt: skip


def judge(*commands: str, protected: tuple[str, ...] = (ALL_TESTS,), own: tuple[str, ...] = ()) -> JudgeFiles:
    return JudgeFiles(commands, protected, own, BASE.keys(), BASE.get)


@each(
    "path",
    [
        "tests/test_app.py", "tests/helpers.py", "conftest.py", "pkg/conftest.py", "src/pkg/test_x.py", "pkg/x_test.go", "src/a.spec.ts", "test.js",
        "src/__tests__/a.js", "__snapshots__/a.snap", "fixtures/a.json", "src/test/java/ATest.java", "golden/a.txt", "expected.json", "spec/a_spec.rb",
    ],
)  # fmt: skip
def test_tests_and_what_belongs_to_them_judge_also_where_they_are_new_or_named_by_the_story(path: str) -> None:
    assert judge("pytest").judges(path)
    assert judge("pytest", own=(path,)).judges(path)
    assert not judge("pytest", protected=()).judges(path)


@each(
    "path", ["app.py", "src/cli.js", "src/contest.py", "README.md", "latest/a.py", "src/testing.ts", "docs/spec/a.md", "protest.py"]
)  # fmt: skip
def test_source_does_not_judge(path: str) -> None:
    assert not any(
        judge(command).judges(path) for command in ("pytest", "npm test", "make check", "python hello.py | grep x")
    )


def test_globs_of_the_user_count_as_they_are() -> None:
    asked = judge("pytest", protected=("docs/**", "pyproject.toml", ".github/**"))
    assert all(map(asked.judges, ("docs/a.md", "pyproject.toml", ".github/workflows/ci.yml")))
    assert not asked.judges("tests/test_app.py")
    assert not asked.is_mixed("pyproject.toml")


@each(
    ("command", "path"),
    [
        ("sh check.sh", "check.sh"), ("./check.sh | tee log", "check.sh"), ("sh check.sh", "lib/verify_output.sh"), ("python scripts/gen.py", "scripts/gen.py"),
        ("python -m checks", "checks/__main__.py"), ("python -m checks", "checks/rules.py"), ("python -m checks.new", "checks/new.py"),
        ("node verify.js", "verify.js"), ("make check", "Makefile"), ("make check", "check.sh"), ("make check", "mk/rules.mk"), ("make", "GNUmakefile"),
        ("just check", "justfile"), ("task check", "Taskfile.yml"), ("npm test", "scripts/smoke.mjs"), ("npm --prefix web test", "web/all-tests.sh"),
        ("cd web && yarn test", "web/all-tests.sh"), ("pytest sums.py", "sums.py"), ("pytest other.py", "other.py"),
        ("python -m unittest sums", "sums.py"), ("npx mocha -r ./setup.js", "setup.js"), ("node --import=./setup.js --test", "setup.js"),
        ("make check", "values.env"), ("make check", "own.d/a"), ("tox -e py", "tox.toml"), ("npx jest --config ci/units.json", "ci/units.json"),
        ("pytest -c ci.ini", "ci.ini"), ("./calc.sh 2 3 | diff - want.txt", "want.txt"), ("diff <(sh calc.sh) want.txt", "want.txt"),
        ("sh calc.sh > out.txt && cmp out.txt want.txt", "want.txt"),
        ("diff -r want build", "want/deep/a"), ("python app.py < data/in.txt | grep -q 5", "data/in.txt"),
        ("sh ask.sh", "ask.sh"), ("sh ask.sh", "data/in.txt"),
        ("python dev.py", "dev.py"), ("python says.py", "says.py"), ("make check", "local.mk"), ("make check", "sub/Makefile"),
        ("sh configure && make", "configure"), ("python -m unittest discover -s qa -p '*.py'", "qa/sums.py"), ("python run-checks", "checks.ini"),
        ("ruff check .", "ruff.toml"), ("npx eslint .", "eslint.config.mjs"),
        ("actionlint .github/workflows/ci.yml", ".github/workflows/ci.yml"), ("pytest checks", "checks/deep/x.py"),
    ],
)  # fmt: skip
def test_what_a_check_runs_as_judge_or_is_steered_by_judges(command: str, path: str) -> None:
    assert judge(command).judges(path)
    assert not judge("pytest tests").judges(path)


@each(
    ("command", "path"),
    [
        ("python hello.py | grep -q Hello", "hello.py"), ("node src/cli.js", "src/cli.js"), ("sh check.sh", "app.py"), ("sh run.sh", "run.sh"),
        ("python scripts/gen.py | grep -q x", "scripts/gen.py"), ("python -m app", "app.py"), ("./calc.sh 2 3 | diff - want.txt", "calc.sh"),
        ("sort notes.md | diff - notes.md", "notes.md"), ("diff notes.md want.txt", "want.txt"), ("grep -q x notes.md", "notes.md"),
        ("pytest --doctest-modules told.py", "told.py"), ("pytest app.py", "app.py"), ("pytest --cov=app tests", "app.py"), ("pytest .", "app.py"),
        ("python guarded.py", "guarded.py"), ("python dev.py | grep -q OK", "dev.py"), ("python app.py < notes.md", "notes.md"), ("make build", "build/x"),
        ("make check", "b.env"),
        ("black -q - < want.txt | diff want.txt -", "want.txt"), ("npm run go", "scripts/smoke.mjs"), ("make check", "src/cli.js"),
        ("python lint/main.py", "lint/main.py"),
        ("python -m doctest app.py", "app.py"),
    ],
)  # fmt: skip
def test_a_program_that_is_the_work_does_not_judge(command: str, path: str) -> None:
    assert not judge(command).judges(path)


def test_a_script_that_the_story_names_is_its_work_unless_it_is_a_test() -> None:
    assert not judge("sh check.sh", own=("check.sh",)).judges("check.sh")
    assert not judge("pytest sums.py", own=("sums.py",)).judges("sums.py")
    assert judge("sh tests/check.sh", own=("tests/check.sh",)).judges("tests/check.sh")


@each(
    ("path", "reader", "other"),
    [
        ("pytest.ini", "pytest", "npx jest"), ("jest.config.js", "npx jest", "pytest"), ("web/vite.config.ts", "npx vitest run", "pytest"),
        (".mocharc.json", "npx mocha", "npx ava"), ("phpunit.xml", "vendor/bin/phpunit", "pytest"), (".taprc", "npx tap", "npx jest"),
    ],
)  # fmt: skip
def test_settings_count_where_their_runner_is_started_or_nobody_knows_what_is(
    path: str, reader: str, other: str
) -> None:
    assert judge(reader).judges(path)
    assert not judge(reader).beside(path)
    assert all(judge(command).judges(path) for command in ("make check", "npm test", "tox", "./run.sh", "mytool"))
    assert not judge(other).judges(path)
    assert judge(other).beside(path)


@each(
    ("command", "paths", "others"),
    [
        ("pytest", "x-1.0.dist-info/entry_points.txt src/x.egg-info/PKG-INFO sitecustomize.py hooks/lines.py src/hooks/own.py",
         "babel.config.js build.rs index.js"),
        ("python -m unittest", "x-1.0.dist-info/METADATA lib/usercustomize.py", "tsconfig.json app.py"),
        ("npx jest", "babel.config.js .babelrc web/.babelrc.json .swcrc tsconfig.json tsconfig.test.json node_modules/a/index.js hooks/first.js web/lines.js",
         "build.rs index.js src/cli.js"),
        ("npx mocha", "hooks/world.cjs .yarn/releases/yarn-4.cjs .pnp.cjs", "index.js hooks/first.js requirements.txt"),
        ("NODE_OPTIONS='--import ./hooks/first.js' npx ava", "hooks/first.js", "hooks/world.cjs"),
        ("node -r ./hooks/first.js --test", "hooks/first.js", "index.js"), ("node --env-file=want.env --test", "want.env", "index.js"),
        ("pytest -q @want.env", "want.env", "index.js"),
        ("cargo test", ".cargo/config.toml .cargo/config rust-toolchain rust-toolchain.toml build.rs crates/a/build.rs",
         "src/build.rs crates/a/src/build.rs babel.config.js"),
        ("go test ./...", "go.work sub/go.work", "go.mod vendor/modules.txt"), ("rake test", "lib/minitest/x_plugin.rb", "lib/x_plugin.rb"),
        ("mvn test", ".mvn/extensions.xml src/main/resources/META-INF/services/org.junit.platform.launcher.X", "pom.xml"),
        ("dotnet test", "Directory.Build.props global.json", "src/x.cs"),
        ("tox", "babel.config.js .cargo/config.toml build.rs", "requirements.txt src/build.rs"),
    ],
)  # fmt: skip
def test_what_a_runner_loads_before_the_first_test_is_put_back_and_told_from_tests(
    command: str, paths: str, others: str
) -> None:
    """By the runner's own habit, or because the command line or the base's settings say so. What the story names is its work."""
    found = judge(command)
    assert [path for path in paths.split() if not (found.judges(path) and found.loads(path))] == []
    assert [path for path in others.split() if found.judges(path)] == []
    assert not any(judge(command, own=tuple(paths.split())).judges(path) for path in paths.split())
    assert not any(judge(command, protected=()).judges(path) for path in paths.split())
    assert not any(
        found.loads(path)
        for path in ("tests/test_app.py", "tests/build.rs", "tests/x.dist-info/a", "conftest.py", "pytest.ini")
    )


@each(
    ("command", "path"),
    [
        ("python -m doctest usage.md", "usage.md"),
        ("pytest --doctest-glob='*.md'", "usage.md"),
        ("pytest", "docs/more.rst"),
    ],
)
def test_a_text_whose_examples_are_run_is_a_test(command: str, path: str) -> None:
    assert judge(command).judges(path)
    assert not judge(command).loads(path)


def test_ci_files_are_only_listed() -> None:
    found = judge("pytest")
    assert not found.judges(".github/workflows/ci.yml")
    assert found.beside(".github/workflows/ci.yml")
    assert not found.beside("app.py")
    assert not found.beside("Cargo.toml")
    assert not found.beside("tests/test_app.py")


def test_of_mixed_files_only_a_part_judges_and_only_for_their_readers() -> None:
    assert judge("pytest").is_mixed("pyproject.toml")
    assert not judge("pytest").judges("pyproject.toml")
    assert not judge("pytest").is_mixed("Cargo.toml")
    assert not judge("pytest").is_mixed("package.json")
    assert judge("cargo test").is_mixed("Cargo.toml")
    assert judge("npm test").is_mixed("web/package.json")
    assert judge("make check").is_mixed("setup.cfg")
    assert not judge("pytest").is_mixed("app.py")


# Fifty real commits

PLACE = Path(__file__).resolve().parents[3] / "shared" / "honest"
CASES: list[dict[str, Any]] = json.loads((PLACE / "cases.json").read_text()) if PLACE.is_dir() else []
BESIDE = {".github/workflows/tests.yaml", ".github/workflows/ci.yaml", ".flake8", "eslint.config.mjs"}
MIXED = {"pyproject.toml", "setup.cfg", "tox.ini", "package.json"}


def git(store: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(store), *words], check=True, capture_output=True).stdout


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The projects of the cases, by name."""
    found = {}
    for repo in {case["repo"] for case in CASES}:
        found[repo] = tmp_path_factory.mktemp(repo)
        git(found[repo], "init", "-q", "--bare")
        git(found[repo], "fetch", "-q", str(PLACE / f"{repo}.bundle"), "+refs/cases/*:refs/cases/*")
    return found


def tree(store: Path, commit: str) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(git(store, "archive", commit))) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        return {member.name: file.read() for member in members if (file := archive.extractfile(member))}


@pytest.mark.skipif(not CASES, reason=f"the real commits are not here: {PLACE}")
@each("case", CASES)
def test_the_tests_of_a_real_commit_judge_and_its_source_does_not(
    case: dict[str, Any], stores: dict[str, Path]
) -> None:
    store, work = stores[case["repo"]], f"refs/cases/{case['id']}"
    before, after = tree(store, f"{work}~1"), tree(store, work)
    paths = git(store, "diff", "--name-only", "--no-renames", f"{work}~1", work).decode().splitlines()
    for own_files in ((), tuple(case["source"])):
        judge = JudgeFiles([case["check"]], [ALL_TESTS], own_files, before.keys(), before.get)
        assert {path for path in paths if judge.judges(path)} == set(case["tests"])
        assert {path for path in paths if judge.is_mixed(path)} == MIXED & set(paths)
        assert {path for path in paths if judge.beside(path)} == BESIDE & set(paths)

    named = {word.partition("::")[0] for word in shlex.split(case["check"])} & set(after)
    assert commandline.absent(case["check"], before, after) == (not named <= set(before))
