"""What checks run, load and compare with is sealed (b.101); what they are about is not, or no honest story would end."""

from __future__ import annotations

import pytest

from tests.verification.test_seal import broken

SAYS_NO = b'#!/bin/sh\n[ "$(./calc.sh 2 3)" = 5 ] || exit 1\n'
PYTHON_SAYS_NO = b"import subprocess\nassert subprocess.check_output(['sh', 'calc.sh', '2', '3']).strip() == b'5'\n"
NODE_SAYS_NO = b"const assert = require('assert');\nassert.strictEqual(require('../calc.js').add(2, 3), 5);\n"
BASE = {
    "calc.sh": b"#!/bin/sh\necho $(( $1 - $2 ))\n", "calc.py": b"def add(a, b):\n    return a - b\n", "calc.js": b"exports.add = (a, b) => a - b;\n",
    "main.py": b"import sys\nfrom calc import add\n\nif len(sys.argv) != 3:\n    raise SystemExit(2)\nprint(add(2, 3))\n",
    "app/__main__.py": b"import sys\nfrom app.cli import main\n\nsys.exit(main())\n",
    "app/cli.py": b"import calc\n\ndef main(given=()):\n    assert isinstance(given, tuple)\n    return 0\n",
    "app/validate.py": b"import calc\nraise ValueError\n",
    "bin/tool": b'#!/bin/sh\n. ./lib.sh\n[ "$1" = list ] && uname | grep -q Linux && [ "$(uname)" = Linux ] && ./calc.sh 2 3\n',
    "index.js": b"const c = require('./calc.js');\nif (process.argv.length !== 4) process.exit(1);\nconsole.log(c.add(2, 3));\n",
    "run.sh": b'#!/bin/sh\n. ./env.sh\nexec python3 main.py "$@"\n', "env.sh": b"A=1\n", "calc.awk": b"{ print $1 - $2 }\n",
    "expected.out": b"5\n",
    "data/sum.txt": b"5\n", "data/in.txt": b"2 3\n", "data/sum.in": b"2 3\n", "want/a": b"5\n", "sums": b"", "words": b"5\n", "notes.md": b"", "out.txt": b"",
    "harness.sh": SAYS_NO, "harness.py": PYTHON_SAYS_NO,
    "sub/up.sh": b'[ "$(cd .. && sh calc.sh 2 3)" = 5 ] || { echo wrong; exit 1; }\n', "more/up": b'test "$(cd . && sh calc.sh 2 3)" = 5 && echo ok\n',
    "sub/go.sh": b'[ 5 = "$(../calc.sh 2 3)" ] || exit 1\n', "scripts/all.js": NODE_SAYS_NO,
    "checks/__main__.py": PYTHON_SAYS_NO, "checks/rules.py": b"", "all.sh": b"#!/bin/sh\nset -e\npython3 harness.py\n",
    "lib.sh": b"same() { [ $1 = $2 ]; }\n",
    "cases/a.sh": b'. "$(dirname "$0")/../lib.sh"\nassert_same "$(./calc.sh 2 3)" 5\n', "configure": b"#!/bin/sh\necho X=1 > conf.mk\n",
    "gold/price.py": b"", "expect.js": b"",
    "setup.js": b"", ".env": b"A=1\n", "loader.mjs": b"", "hooks/plug.py": b"",
    "judge.py": b"import json\nimport calc\n\nfor a, b, c in json.load(open('cases.json')):\n    assert calc.add(a, b) == c\n",
    "cases.json": b"[[2, 3, 5]]",
    "vectors.json": b"[]", "tests/test_a.py": b"from same import equal\nVECTORS = open('vectors.json')\n", "t/Makefile": b"check:\n\tsh add.sh\n",
    "same.py": b"def equal(a, b):\n    if a != b:\n        raise AssertionError(a)\n",
    "t/add.sh": b"sh ../calc.sh 2 3\n", "conf.mk": b"SH = sh\n", "more.mk": b"",
    "Makefile": (
        b"include conf.mk\n-include local.mk dep.d $(wildcard mk/*.mk)\nall: app.bin\napp.bin: app.c\n\tcc -o $@ app.c\n"
        b"check: cases\n\t$(SH) harness.sh\n\t$(MAKE) -C t check\n"
        b"cases:\n\tfor c in cases/*.sh; do sh $$c || exit 1; done\n.PHONY: lint\nlint:\n\tsh run.sh\n"
    ),
    "package.json": b'{"scripts": {"test": "node scripts/all.js", "start": "node index.js"}}', "web/package.json": b'{"scripts": {"test": "sh all.sh"}}',
    "web/all.sh": b"#!/bin/sh\npytest\n",
}  # fmt: skip


def sealed(path: str, command: str) -> bool:
    return broken({path: b"changed"}, [command], base=BASE) == (path,)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("./calc.sh 2 3 | diff expected.out -", "expected.out"), ("./calc.sh 2 3 | diff - data/sum.txt", "data/sum.txt"),
        ("sh calc.sh 2 3 > out.txt && cmp out.txt data/sum.txt", "data/sum.txt"), ("diff <(sh calc.sh 2 3) <(sort data/sum.txt)", "data/sum.txt"),
        ("cat data/sum.txt | diff - <(./calc.sh 2 3)", "data/sum.txt"), ("cd data && sh ../calc.sh 2 3 | comm -3 - sum.txt", "data/sum.txt"),
        ("python3 main.py < data/in.txt | diff - data/sum.txt", "data/in.txt"), ("diff -r want build", "want/a"), ("sha256sum -c sums", "sums"),
        ("./calc.sh 2 3 | grep -qxf words", "words"), ('[ "$(./calc.sh 2 3)" = "$(cat expected.out)" ]', "expected.out"),
        ("""python3 -c "assert open('out.txt').read() == open('expected.out').read()" """, "expected.out"),
        ("diff out.txt expected.out", "expected.out"), ("for i in data/*.in; do ./calc.sh < $i | diff - ${i%.in}.txt || exit 1; done", "data/sum.txt"),
        ("for i in data/*.in; do ./calc.sh < $i | diff - ${i%.in}.txt || exit 1; done", "data/sum.in"),
        ('[ "$(./calc.sh 2 3)" = "$(cat data/sum.txt)" ]', "data/sum.txt"), ("python3 judge.py", "cases.json"), ("pytest", "vectors.json"),
    ],
)  # fmt: skip
def test_what_a_check_compares_with_is_sealed(command: str, path: str) -> None:
    assert sealed(path, command)
    assert broken({path: b"x"}, [command], (path,), base=BASE) == ()


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("./harness.sh", "harness.sh"), ("bash harness.sh", "harness.sh"), ("python3 harness.py", "harness.py"), ("python3 -m harness", "harness.py"),
        ("python3 -m checks", "checks/__main__.py"), ("python3 -m checks", "checks/rules.py"), ("cd sub && sh go.sh", "sub/go.sh"),
        ("(cd sub; sh go.sh)", "sub/go.sh"), ("cd sub && sh up.sh", "sub/up.sh"), ("sh more/up", "more/up"),
        ("sh all.sh", "all.sh"), ("sh all.sh > log 2>&1", "all.sh"), ("sh all.sh", "harness.py"), ("./harness.sh | tee log", "harness.sh"),
        ("npm test", "scripts/all.js"), ("node scripts/all.js", "scripts/all.js"), ("timeout 9 node scripts/all.js", "scripts/all.js"),
        ("npm --prefix web test", "web/all.sh"), ("npm --prefix web test", "web/package.json"), ("cd web && npm test", "web/all.sh"),
        ("sh cases/a.sh", "lib.sh"),
        (". ./lib.sh && same 1 1", "lib.sh"), ("./configure && make check", "configure"),
        ("node --require ./setup.js --test x", "setup.js"), ("node -r ./setup index.js", "setup.js"), ("node --env-file=.env --test x", ".env"),
        ("node --import ./loader.mjs --test x", "loader.mjs"), ("NODE_OPTIONS='--require ./setup.js' npx jest", "setup.js"),
        ("pytest -p hooks.plug", "hooks/plug.py"),
        ("make check", "Makefile"), ("make check", "conf.mk"), ("make check", "harness.sh"), ("make check", "t/Makefile"), ("make check", "cases/a.sh"),
        ("make check", "lib.sh"), ("make -f more.mk", "more.mk"), ("make -C t", "t/Makefile"), ("pytest", "same.py"),
    ],
)  # fmt: skip
def test_what_a_check_runs_as_a_judge_or_is_steered_by_is_sealed(command: str, path: str) -> None:
    assert sealed(path, command)
    assert broken({path: b"x"}, [command], (path,), base=BASE) == ()


@pytest.mark.parametrize(
    ("settings", "text", "path", "command"),
    [
        (
            "package.json",
            b'{"scripts": {"test": "jest"}, "jest": {"setupFiles": ["<rootDir>/src/before.js"]}}',
            "src/before.js",
            "npm test",
        ),
        ("jest.config.js", b"module.exports = { globalSetup: './src/before' };\n", "src/before.js", "npx jest"),
        (
            "vite.config.ts",
            b"export default { test: { setupFiles: ['./src/a.ts', './src/before.js'] } };\n",
            "src/before.js",
            "npx vitest run",
        ),
        (".mocharc.json", b'{"require": "./src/before.js"}', "src/before.js", "npx mocha"),
        ("conftest.py", b'pytest_plugins = ["src.before"]\n', "src/before.py", "pytest"),
        ("pytest.ini", b"[pytest]\naddopts = -q -p src.before\n", "src/before.py", "pytest"),
        ("phpunit.xml", b'<phpunit bootstrap="src/before.php"/>', "src/before.php", "vendor/bin/phpunit"),
    ],
)
def test_what_a_runners_settings_load_first_is_sealed(settings: str, text: bytes, path: str, command: str) -> None:
    base = {settings: text, path: b"", "src/index.js": b""}
    assert broken({path: b"x", "src/index.js": b"x"}, [command], base=base) == (path,)


def test_what_a_package_gives_to_others_is_not_sealed() -> None:
    package = b'{"exports": {"require": "./src/index.js"}, "bin": "src/index.js", "scripts": {"test": "jest"}, "jest": {"verbose": true}}'
    assert broken({"src/index.js": b"x"}, ["npm test"], base={"package.json": package, "src/index.js": b""}) == ()


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("local.mk", "make check"),
        ("mk/new.mk", "make check"), (".bazelrc", "bazel test //..."), (".taprc", "npx tap"),
        ("check", "make check"), ("check/x", "make check"), ("cases", "make check"), (".proverc", "prove -I."),
        ("Test/More.pm", "prove -I."), ("web/node_modules/chai/index.js", "npm test"), ("src/unittest.py", "PYTHONPATH=src python3 -m unittest"),
        ("web/unittest/__init__.py", "cd web && python3 -m unittest"), ("t/GNUmakefile", "make check"),
    ],
)  # fmt: skip
def test_a_new_file_that_a_check_would_take_breaks_the_seal(path: str, command: str) -> None:
    base = {name: text for name, text in BASE.items() if not name.startswith("cases/")} if path == "cases" else BASE
    assert broken({path: b"x"}, [command], base=base) == (path,)
    assert broken({path: b"x"}, [command], (path,), base=base) == ()


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("./calc.sh 2 3 | diff expected.out -", "calc.sh"), ("sh calc.sh 2 3 > out.txt && cmp out.txt expected.out", "out.txt"),
        ("./harness.sh", "calc.sh"), ("make check", "calc.sh"), ("npm test", "calc.js"), ("python3 -m harness", "calc.sh"),
        ("echo hi | diff - words", "words"), ("diff words - <<E\nx\nE\n", "words"), ("diff out.txt expected.out", "out.txt"),
        ("sort words | diff - words", "words"), ("black -q - < main.py | diff main.py -", "main.py"), ("diff notes.md words", "notes.md"),
        ("test -f notes.md && grep -q x notes.md", "notes.md"), ("[ -f notes.md ]", "notes.md"), ("wc -c notes.md", "notes.md"),
        ("grep -c x notes.md", "notes.md"), ("rm -f out.txt; grep -q x notes.md", "out.txt"), ("cat notes.md | grep -q x", "notes.md"),
        ("python3 main.py 2 3", "main.py"), ("python3 main.py", "main.py"), ("python3 main.py | grep -qx 5", "main.py"),
        ("python3 main.py --help && pytest", "main.py"),
        ("python3 -m app --help && pytest", "app/__main__.py"), ("python3 -m app", "app/cli.py"), ("node index.js 2 3", "index.js"),
        ("npm start", "index.js"), ('[ "$(cat notes.md)" = done ]', "notes.md"), ("python3 main.py", "cases.json"),
        ("./run.sh --help", "run.sh"), ("./run.sh 2 3 | grep -qx 5", "env.sh"), ("make lint", "run.sh"),
        ("echo 2 3 | awk -f calc.awk | grep -qx 5", "calc.awk"),
        ('test "$(./run.sh 2 3)" = 5', "run.sh"), ("python3 -m doctest calc.py", "calc.py"),
        ("python3 -m py_compile main.py", "main.py"),
        ("pytest gold/", "gold/price.py"), ("python3 gold/price.py | grep -q 5", "gold/price.py"), ("node expect.js", "expect.js"),
        ("python3 -m app.validate x.json", "app/validate.py"), ("./bin/tool list", "bin/tool"), ("./bin/tool list | grep -q x", "lib.sh"),
        ("python3 app/cli.py | grep -q 0", "app/cli.py"), ("python3 main.py --help | diff - notes.md", "notes.md"),
        ("mkdir -p app; ls", "app/cli.py"),
        ("pip install -r notes.md && pytest", "notes.md"), ("pytest --rootdir=app", "app/cli.py"), ("./configure", "configure"), ("npm test", "harness.py"),
    ],
)  # fmt: skip
def test_what_a_check_is_about_is_not_sealed(command: str, path: str) -> None:
    assert not sealed(path, command)


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("app.bin", "make all"), ("lint", "make lint"), ("lint/rules.md", "make lint"), ("checked", "make check"),
        ("src/calc.py", "PYTHONPATH=src pytest"),
        ("packaging/debian/rules", "pytest"),
        ("configure", "./configure && make"), ("scripts/all.js", "npm test"), ("golden/a.txt", "diff -r golden out"),
        ("lib/Test/Calc.pm", "prove -l"), ("data/new.txt", "./calc.sh 2 3 | diff expected.out -"), ("dep.d", "make check"),
    ],
)  # fmt: skip
def test_new_files_that_no_check_would_take_are_welcome(path: str, command: str) -> None:
    base = {name: text for name, text in BASE.items() if name != path}
    assert broken({path: b"x"}, [command], base=base) == ()


def test_scripts_that_run_each_other_in_a_circle_are_judged_once() -> None:
    circle = {
        "a.sh": b"sh b.sh\n. ./a.sh\n",
        "b.sh": b"sh a.sh\nmake\n",
        "Makefile": b"include Makefile\nall:\n\tsh a.sh\n\t$(MAKE) all\n",
    }
    assert broken({"a.sh": b"x"}, ["sh a.sh", "make"], base=circle) == ()
