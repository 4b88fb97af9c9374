"""Sealed files: what judges a story is not the story's to change (b.101), and new files are otherwise welcome."""

from __future__ import annotations

import pytest

from santiago.contract.ports.workspace import Change
from santiago.verification.sealing.globs import DEFAULT_PROTECTED, matches, names
from santiago.verification.sealing.seal import Side, tampered
from santiago.verification.sealing.watch import unsealed

BASE = {
    "src/calc.py": b"", "tests/test_calc.py": b"", "tests/conftest.py": b"", "web/a.test.ts": b"", "README.md": b"", "tool.sh": b"#!/bin/sh\necho hi\n",
    "Makefile": b"test:\n\tsh scripts/run.sh\n", "scripts/run.sh": b"#!/bin/sh\nexec pytest\n", "scripts/other.sh": b"#!/bin/sh\necho x\n",
    "pyproject.toml": b"[project]\nname = 'x'\n[tool.pytest.ini_options]\naddopts = '-q'\n", "setup.cfg": b"[metadata]\nname = x\n",
    "package.json": b'{"version": "1", "scripts": {"test": "npm run unit", "unit": "jest", "start": "node ."}}',
    "pom.xml": b"<project/>", "Cargo.toml": b"[package]\nname = 'x'\n", "check.sh": b"#!/bin/sh\ncmp a b\n",
}  # fmt: skip


def broken(
    now: dict[str, bytes | None], commands: list[str], files: tuple[str, ...] = (), base: dict[str, bytes] = BASE
) -> tuple[str, ...]:
    """Return what an attempt broke that leaves these files; None deletes one."""
    changes = []
    for path, content in now.items():
        status = "D" if content is None else "M" if path in base else "A"
        changes.append(Change(status=status, path=path, old_mode="100644", new_mode="100644"))

    def read(path: str, side: Side) -> bytes | None:
        return base.get(path) if side == "base" or path not in now else now[path]

    return tampered(changes, DEFAULT_PROTECTED, files, commands, set(base), read)


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_a.py", "test/x.rb", "pkg/tests/data.json", "a/b_test.go", "src/x.test.ts", "src/x.spec.jsx", "src/__tests__/x.js",
        "src/test/java/FooTest.java", "src/FooIT.java", "spec/models/a_spec.rb", "FooTest.php", "App.Tests/Foo.cs", "a/test_b.py", "conftest.py", "pytest.ini",
        "jest.config.ts", ".github/workflows/ci.yml", "a/__snapshots__/x.snap", "features/login.feature", "x_test.exs", "tests.py", "t/basic.t", "x.bats",
        "lib/foo_test.dart", "Sources/AppTests/FooTests.swift", "tests/integration.rs", ".mocharc.json", "testdata/a.json",
    ],
)  # fmt: skip
def test_tests_of_all_common_kinds_are_sealed_by_default(path: str) -> None:
    assert matches(path, DEFAULT_PROTECTED)


@pytest.mark.parametrize(
    "path",
    ["src/calc.py", "latest.py", "src/contest.py", "docs/spec/a.md", "specs/plan.md", "attest.go", "src/Testimony.ts", "protest/a.py", "main.rs", "x.ts"],
)  # fmt: skip
def test_ordinary_files_are_not_sealed(path: str) -> None:
    assert not matches(path, DEFAULT_PROTECTED)


def test_a_changed_or_deleted_test_breaks_the_seal_and_other_files_do_not() -> None:
    assert broken({"tests/test_calc.py": b"x", "src/calc.py": b"x"}, ["pytest"]) == ("tests/test_calc.py",)
    assert broken({"tests/test_calc.py": None, "web/a.test.ts": None}, ["pytest"]) == (
        "tests/test_calc.py",
        "web/a.test.ts",
    )
    assert broken({"src/calc.py": None, "README.md": b"x", "tests/test_new.py": b"x"}, ["pytest"]) == ()


@pytest.mark.parametrize(("new", "wanted"), [(BASE["check.sh"], ()), (b"", ("check.sh",))])
def test_a_script_that_judges_may_become_a_program(new: bytes, wanted: tuple[str, ...]) -> None:
    change = Change(status="M", path="check.sh", old_mode="100644", new_mode="100755")
    read = {"base": BASE["check.sh"], "now": new}
    assert tampered([change], DEFAULT_PROTECTED, (), ["sh check.sh"], set(BASE), lambda _, side: read[side]) == wanted


def test_a_test_that_became_a_link_or_changed_its_mode_breaks_the_seal() -> None:
    for status, mode in (("T", "120000"), ("M", "100755")):
        change = Change(status=status, path="tests/test_calc.py", old_mode="100644", new_mode=mode)
        assert tampered([change], DEFAULT_PROTECTED, (), ["pytest"], set(BASE), lambda *_: b"") == (
            "tests/test_calc.py",
        )


@pytest.mark.parametrize("target", [b"/usr/share/zoneinfo", b"../../other"])
def test_a_new_link_out_of_the_tree_is_called_one(target: bytes) -> None:
    change = Change(status="A", path="src/tz", old_mode="000000", new_mode="120000")
    found = tampered([change], DEFAULT_PROTECTED, (), ["pytest"], set(BASE), lambda *_: target)
    assert found == ("src/tz (a link out of the tree)",)
    assert tampered([change], DEFAULT_PROTECTED, (), ["pytest"], set(BASE), lambda *_: b"../README.md") == ()


def test_a_story_may_change_the_tests_that_its_files_name() -> None:
    change: dict[str, bytes | None] = {"tests/test_calc.py": b"x"}
    for named in ("tests/test_calc.py", "./tests/test_calc.py", "tests/", "tests", "tests/*.py", "tests/**"):
        assert broken(change, ["pytest"], (named,)) == ()
    for named in ("**", "*", "**/*.py", ".", "", "src/", "tests/test_other.py", "test"):
        assert broken(change, ["pytest"], (named,)) == ("tests/test_calc.py",)


def test_globs_of_a_story_cross_folders_only_with_two_stars() -> None:
    assert names(["src/*.py"], "src/a.py")
    assert not names(["src/*.py"], "src/x/a.py")
    assert names(["src/**/*.{py,pyi}"], "src/x/y/a.pyi")


def test_what_a_check_runs_is_sealed_and_a_program_that_is_the_work_is_not() -> None:
    assert broken({"check.sh": b"x"}, ["./check.sh"]) == ("check.sh",)
    assert broken({"check.sh": b"x"}, ["pytest"]) == ()
    assert broken({"Makefile": b"x"}, ["make test"]) == ("Makefile",)
    assert broken({"scripts/run.sh": b"x"}, ["make test"]) == ("scripts/run.sh",)
    assert broken({"scripts/run.sh": b"x"}, ["bash scripts/run.sh"]) == ("scripts/run.sh",)
    assert broken({"scripts/other.sh": b"x", "Makefile": b"x"}, ["pytest"]) == ()
    assert broken({"tool.sh": b"x"}, ["./tool.sh | grep -q hello"]) == ()


def test_of_a_package_only_the_scripts_that_checks_run_are_sealed() -> None:
    def package(scripts: str) -> dict[str, bytes | None]:
        return {"package.json": b'{"version": "2", "scripts": {' + scripts.encode() + b"}}"}

    same = '"test": "npm run unit", "unit": "jest", "start": "node ."'
    assert broken(package(same), ["npm test"]) == ()
    assert broken(package(same.replace("node .", "node server")), ["npm test"]) == ()
    assert broken(package(same + ', "build": "tsc"'), ["npm test"]) == ()
    assert broken(package(same.replace("jest", "true")), ["npm test"]) == ("package.json",)
    assert broken(package(same + ', "pretest": "rm -r tests"'), ["npm test"]) == ("package.json",)
    assert broken(package('"unit": "jest"'), ["npm run test"]) == ("package.json",)
    assert broken({"package.json": b"{broken"}, ["npm test"]) == ("package.json",)
    fresh = {"package.json": b'{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}
    assert broken(package('"test": "node --test"'), ["npm test"], base=fresh) == ()


def test_of_project_files_only_the_part_that_steers_tests_is_sealed() -> None:
    same = (
        b"[project]\nname = 'y'\ndependencies = ['a']\n[tool.ruff]\nx = 1\n[tool.pytest.ini_options]\naddopts = '-q'\n"
    )
    assert broken({"pyproject.toml": same}, ["pytest"]) == ()
    assert broken({"pyproject.toml": same.replace(b"-q", b"--co")}, ["pytest"]) == ("pyproject.toml",)
    assert broken({"pyproject.toml": b"[project]\nname = 'x'\n"}, ["pytest"]) == ("pyproject.toml",)
    assert broken({"setup.cfg": b"[metadata]\nname = y\n"}, ["pytest"]) == ()
    assert broken({"setup.cfg": b"[tool:pytest]\naddopts = --co\n"}, ["pytest"]) == ("setup.cfg",)
    assert broken({"pom.xml": b"<project><a/></project>"}, ["mvn test"]) == ()
    assert broken({"pom.xml": b"<project><skipTests>true</skipTests></project>"}, ["mvn test"]) == ("pom.xml",)
    assert broken({"Cargo.toml": b"[package]\nname = 'x'\n[dependencies]\na = '1'\n"}, ["cargo test"]) == ()
    assert broken({"Cargo.toml": b"[package]\nname = 'x'\n[lib]\ntest = false\n"}, ["cargo test"]) == ("Cargo.toml",)


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("conftest.py", "pytest"), ("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("pytest.toml", "pytest"), ("sitecustomize.py", "pytest"),
        ("usercustomize.py", "python -m unittest"), ("evil.pth", "pytest"), ("jest.config.js", "npx jest"), ("vitest.config.ts", "npx vitest run"),
        (".mocharc.yml", "npx mocha"), (".coveragerc", "pytest"), ("bin/pytest", "pytest"), (".venv/bin/python", "pytest"), ("venv/pyvenv.cfg", "pytest"),
        ("node_modules/.bin/jest", "npx jest"), ("node_modules/jest/index.js", "npx jest"), ("pytest.py", "python -m pytest"),
        ("pytest/__init__.py", "python -m pytest"), ("_pytest/__init__.py", "python -m pytest"), ("unittest.py", "python -m unittest"),
        ("x.dist-info/entry_points.txt", "python -m pytest"), ("GNUmakefile", "make test"), ("makefile", "make test"), ("verify.sh", "./verify.sh"),
        ("ci/run.sh", "sh ci/run.sh"), (".cargo/config.toml", "cargo test"), (".mvn/maven.config", "mvn test"), ("bin/git", "pytest"),
        ("lib/python3/site-packages/x.py", "pytest"),
    ],
)  # fmt: skip
def test_a_new_file_that_sets_itself_between_check_and_tests_breaks_the_seal(path: str, command: str) -> None:
    assert broken({path: b"x"}, [command]) == (path,)
    assert broken({path: b"x"}, [command], (path,)) == ()


def test_new_settings_break_the_seal_only_where_they_steer_tests() -> None:
    without = {path: text for path, text in BASE.items() if path not in {"pyproject.toml", "setup.cfg"}}
    steering: dict[str, bytes | None] = {"pyproject.toml": b"[tool.pytest.ini_options]\naddopts = '--co'\n"}
    assert broken(steering, ["pytest"], base=without) == ("pyproject.toml",)
    assert broken({"pyproject.toml": b"[project]\nname = 'x'\n"}, ["pytest"], base=without) == ()
    assert broken({"tox.ini": b"[flake8]\nmax = 3\n"}, ["pytest"]) == ()
    assert broken({"tox.ini": b"[pytest]\naddopts = --co\n"}, ["pytest"]) == ("tox.ini",)
    assert broken({".npmrc": b"script-shell=/bin/true\n"}, ["npm test"]) == (".npmrc",)
    assert broken({".npmrc": b"registry=https://example.org\n"}, ["npm test"]) == ()


def test_a_plugin_for_pytest_is_no_part_of_a_package_that_a_story_may_add() -> None:
    plugin = (
        b"[project]\nname = 'x'\n[project.entry-points.pytest11]\nx = 'x'\n[tool.pytest.ini_options]\naddopts = '-q'\n"
    )
    assert broken({"pyproject.toml": plugin}, ["pytest"]) == ("pyproject.toml",)
    assert broken({"pyproject.toml": plugin.replace(b"pytest11", b"other")}, ["pytest"]) == ()
    assert broken({"setup.cfg": b"[options.entry_points]\npytest11 = x = x\n"}, ["pytest"]) == ("setup.cfg",)
    assert broken({"setup.cfg": b"[options.entry_points]\nconsole_scripts = x = x:main\n"}, ["pytest"]) == ()


def test_new_settings_may_not_rewrite_tests_before_they_run() -> None:
    own = b"module.exports = { plugins: ['./rewrite.js'] };\n"
    usual = b"module.exports = { presets: ['@babel/preset-env'], plugins: ['macros'] };\n"
    inline = b"export default { plugins: [{ name: 'x', transform(code) { return code } }] };\n"
    assert broken({"babel.config.js": own}, ["npx jest"]) == ("babel.config.js",)
    assert broken({"babel.config.js": usual}, ["npx jest"]) == ()
    assert broken({"babel.config.js": own}, ["pytest"]) == ()
    assert broken({"vite.config.ts": inline}, ["npx vitest run"]) == ("vite.config.ts",)
    assert broken({"babel.config.js": own + b"// more"}, ["npx jest"], base={**BASE, "babel.config.js": own}) == ()


def test_of_other_package_managers_only_the_tasks_are_sealed_that_checks_may_run() -> None:
    base = {"composer.json": b'{"name": "x", "scripts": {"test": "phpunit"}}', "tests/ATest.php": b""}
    tame: dict[str, bytes | None] = {"composer.json": b'{"name": "x", "scripts": {"test": "true"}}'}
    assert broken(tame, ["composer test"], base=base) == ("composer.json",)
    assert broken(tame, ["vendor/bin/phpunit"], base=base) == ()
    assert broken({"composer.json": base["composer.json"].replace(b'"x"', b'"y"')}, ["composer test"], base=base) == ()


def test_a_new_test_file_of_go_may_not_take_over_the_others() -> None:
    base = {"calc.go": b"", "calc_test.go": b""}
    takes: dict[str, bytes | None] = {"a_test.go": b"package calc\nfunc TestMain(m *testing.M) { os.Exit(0) }\n"}
    sets_up: dict[str, bytes | None] = {
        "a_test.go": b"package calc\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n"
    }
    assert broken(takes, ["go test ./..."], base=base) == ("a_test.go",)
    assert broken(sets_up, ["go test ./..."], base=base) == ()


def test_new_tests_may_bring_their_own_fixtures_but_no_hooks() -> None:
    fixture = b"import pytest\n\n@pytest.fixture\ndef item(): return 1\n"
    hook = b"def pytest_collection_modifyitems(items): items.clear()\n"
    assert broken({"more/conftest.py": fixture, "more/test_more.py": b""}, ["pytest"]) == ()
    assert broken({"more/conftest.py": hook}, ["pytest"]) == ("more/conftest.py",)
    assert broken({"more/conftest.py": b"import os; os._exit(0)"}, ["pytest"]) == ("more/conftest.py",)


def test_new_work_is_welcome() -> None:
    new: dict[str, bytes | None] = {
        "src/new.py": b"", "hello.py": b"", "bin/mytool": b"", "tests/test_new.py": b"", "scripts/deploy.sh": b"", "docs/a.md": b"",
        "bin/hello": b"", "bin/test": b"", "weights/tiny.pth": b"x", "tiny.pth": bytes(range(256)), "packaging/control.py": b"",
        "tests/fixtures/app/node_modules/dep/index.js": b"",
    }  # fmt: skip
    assert (
        broken(
            new,
            ["pytest", "npm test", "python -m hello | grep -q hi", "bin/mytool --selftest", "python tests/test_new.py"],
        )
        == ()
    )
    assert broken({"Makefile": b"test:\n\tpytest\n"}, ["make test"], base={"src/a.py": b""}) == ()


MAKEFILE = b"PYTHON ?= python3\n\ntest:\n\t$(PYTHON) -m unittest -q\n\tA=1 sh more.sh\n\n.PHONY: test\n"


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        (MAKEFILE + b"\nclean:\n\trm -rf build\n\n.PHONY: clean\n", ["make test"]),
        (
            MAKEFILE.replace(b".PHONY: test", b".PHONY: test clean docs")
            + b"OUT = build\ndocs: test ; mkdir $(OUT)\nclean: docs\n\trm -r $(OUT)\n",
            ["make test"],
        ),
        (b"# More of it.\n" + MAKEFILE + b"\nclean:\n\trm -rf build \\\n\t  docs\n", ["make test", "mkdir build && make clean && test ! -d build"]),
        (MAKEFILE.replace(b"\n\n.PHONY", b"\n\n# all of them\nlint:\n\truff check .\n\n.PHONY"), ["make"]),
    ],
)  # fmt: skip
def test_a_makefile_may_gain_what_no_check_makes(text: bytes, commands: list[str]) -> None:
    assert broken({"Makefile": text}, commands, base={"Makefile": MAKEFILE, "tests/test_a.py": b""}) == ()


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (MAKEFILE.replace(b" -q", b" -q || true"), "make test"), (MAKEFILE + b"test:\n\ttrue\n", "make test"), (b"all:\n\ttrue\n" + MAKEFILE, "make"),
        (MAKEFILE + b"MAKEFLAGS += -i\n", "make test"), (MAKEFILE + b"SHELL = /bin/true\n", "make test"), (MAKEFILE + b"test: PYTHON = true\n", "make test"),
        (MAKEFILE + b".IGNORE:\n", "make test"), (MAKEFILE + b"-include more.mk\n", "make test"), (MAKEFILE + b"PYTHON = true\n", "make test"),
        (MAKEFILE + b"Makefile:\n\techo 'test:' > Makefile\n", "make test"), (MAKEFILE + b"x := $(shell rm -r tests)\n", "make test"),
        (MAKEFILE + b"clean: $(shell rm -r tests)\n", "make test"), (MAKEFILE.replace(b"\tA=1", b"X = 1\n\tA=1"), "make test"),
        (MAKEFILE.replace(b"\tA=1", b".PHONY: x\n\tA=1"), "make test"), (MAKEFILE.replace(b"\tA=1", b"clean:\n\tA=1"), "make test"),
        (MAKEFILE.replace(b" -q", b" -q\x0cclean: ; true"), "make test"), (MAKEFILE + b"# x \\\\\nexport PATH := .\n", "make test"),
        (MAKEFILE + b"tests/test_a.py:\n\ttrue\n", "make test"), (MAKEFILE.replace(b".PHONY: test", b".PHONY: clean"), "make test"),
        (MAKEFILE + b"define x\nendef\n", "make test"), (MAKEFILE + b"export PYTEST_ADDOPTS = --co\n", "make test"),
    ],
)  # fmt: skip
def test_a_makefile_may_not_have_a_check_do_another_thing(text: bytes, command: str) -> None:
    base = {"Makefile": MAKEFILE, "tests/test_a.py": b"", "more.sh": b"pytest\n"}
    assert broken({"Makefile": text}, [command], base=base) == ("Makefile",)


@pytest.mark.parametrize("files", ["src/", "src", "./src/", "src/**/*.js"])
def test_a_folder_or_a_glob_leaves_the_tests_below_it_sealed(files: str) -> None:
    base = {"src/a.js", "src/a.test.js", "src/test/b.js", "tests/c.js"}
    assert set(unsealed([files], base, DEFAULT_PROTECTED)) == {"src/a.js"}


@pytest.mark.parametrize(
    "file", ["tests/", "src/test", "src/**/*.test.js", "src/a.test.js", "spec/", "src/new.test.js"]
)
def test_what_is_about_tests_itself_unseals_them(file: str) -> None:
    base = {"src/a.js", "src/a.test.js", "src/test/b.js", "tests/c.js", "spec/d_spec.rb"}
    assert unsealed([file], base, DEFAULT_PROTECTED) == (file,)
