"""A check's command line is read as the shell reads it, as far as the judge needs."""

from hypothesis import given as given_any
from hypothesis import strategies as st

from santiago.judge.commandline import Program, absent, given, modules, programs, runner_of, unwritten
from tests.util.each import each


def names(command: str) -> list[tuple[str, ...]]:
    return [program.argv for program in programs(command)]


def paths(command: str) -> set[str]:
    return {path for program in programs(command) for path in (*given(program), *modules(program))} & FILES


@each(
    ("command", "expected"),
    [
        ("pytest -q", [("pytest", "-q")]),
        ("a && b || c; d | e & (f)", [("a",), ("b",), ("c",), ("d",), ("e",), ("f",)]),
        ("PYTHONPATH=src python3 -m pytest tests", [("pytest", "tests")]),
        ("timeout -k 5 60 env -u X A=1 uv run --with x coverage run -m pytest t", [("pytest", "t")]),
        ("coverage run app.py", [("python", "app.py")]),
        ("npx --no-install tape test/a.js", [("tape", "test/a.js")]),
        ("poetry run python -W error -m unittest", [("unittest",)]),
        ("sh -c 'pytest -q; ruff check'", [("pytest", "-q"), ("ruff", "check")]),
        ("""bash -ec "cd x && sh -c 'go test'" """, [("cd", "x"), ("go", "test")]),
        ("if grep -q 'a b' f; then echo yes; fi", [("grep", "-q", "a b", "f"), ("echo", "yes")]),
        ('grep "a|b;c" f\\ g > out 2>&1 # no | more', [("grep", "a|b;c", "f g")]),
        ("python -c 'import x; print(1)' -m", [("python", "-c", "import x; print(1)", "-m")]),
        ("env", [("env",)]),
        ('[ "$(./calc 2)" = 5 ]', [("[", "$(./calc 2)", "=", "5", "]")]),
        ("diff <(sort a) b", [("diff", "<(sort a)", "b")]),
        ("echo 'never closed", []),
        ("", []),
    ],
)  # fmt: skip
def test_each_program_is_found_behind_what_only_starts_it(command: str, expected: list[tuple[str, ...]]) -> None:
    assert names(command) == expected


def test_a_program_knows_its_folder_its_variables_and_who_listens() -> None:
    found = programs("(cd web && B=2 npm test) && python hello.py < in.txt | grep -q Hello")
    npm, python, grep = found[-3:]
    assert (npm.folder, npm.assigned) == ("web", (("B", "2"),))
    assert (python.folder, python.script, python.is_heard) == ("", "hello.py", True)
    assert python.written == ("python", "hello.py", "in.txt")
    assert not grep.is_heard
    assert [program.is_heard for program in programs("sh check.sh | tee log")] == [False, False]
    assert [program.is_heard for program in programs("./tool > out.txt && cmp out.txt want")] == [True, False]


@each(
    ("command", "expected"),
    [
        ("python3 -m pytest -q", ("pytest",)), (".venv/bin/pytest", ("pytest",)), ("python -m unittest discover", ("unittest",)),
        ("node --test", ("node",)), ("node index.js", ()), ("yarn jest && npx vitest run", ("jest", "vitest")), ("cargo +nightly test", ("cargo",)),
        ("go vet ./... && go test ./...", ("go",)), ("./gradlew :app:test", ("gradle",)), ("mvn -q verify", ("maven",)), ("npx ava", ("ava",)),
        ("make test", ()), ("npm test", ()), ("grep pytest README.md", ()), ("python hello.py", ()),
    ],
)  # fmt: skip
def test_a_runner_is_known_from_the_command_line(command: str, expected: tuple[str, ...]) -> None:
    assert tuple(dict.fromkeys(filter(None, map(runner_of, programs(command))))) == expected


FILES = frozenset({
    "tests/test_a.py", "tests/test_b.py", "tests/data/in.txt", "src/pkg/tool.py", "web/test/x.js", "checks/run.py", "Makefile", "spec/a_spec.rb",
})  # fmt: skip


@each(
    ("command", "expected"),
    [
        ("pytest tests/test_a.py::A::b ./tests/test_b.py", {"tests/test_a.py", "tests/test_b.py"}),
        ("python -m unittest tests.test_a.Case.test_x", {"tests/test_a.py"}),
        ("python -m checks.run", {"checks/run.py"}),
        ("PYTHONPATH=src python -m pkg.tool --file=tests/data/in.txt", {"src/pkg/tool.py", "tests/data/in.txt"}),
        ("cd web && npx tape test/x.js", {"web/test/x.js"}),
        ("cd web && npx tape ../tests/test_a.py", {"tests/test_a.py"}),
        ("rspec spec/a_spec.rb:12", {"spec/a_spec.rb"}),
        ("cat < tests/data/in.txt", {"tests/data/in.txt"}),
        ("pytest tests", set()), ("pytest /tests/test_a.py $X/tests/test_a.py", set()), ("make", set()),
    ],
)  # fmt: skip
def test_files_are_found_by_path_id_and_module(command: str, expected: set[str]) -> None:
    assert paths(command) == expected


@each(
    ("command", "new"),
    [
        ("pytest -q tests/test_new.py", "tests/test_new.py"), ("python -m unittest tests.test_new", "tests/test_new.py"),
        ("pytest more_tests", "more_tests/test_x.py"), ("sh check.sh", "check.sh"), ("./check.sh | tee log", "check.sh"),
        ("python -m verify", "verify.py"), ("go test ./new/...", "new/a_test.go"), ("pytest new/test_*.py", "new/test_a.py"),
    ],
)  # fmt: skip
def test_a_check_whose_own_file_comes_with_the_work_says_nothing_of_the_base(command: str, new: str) -> None:
    assert absent(command, FILES, FILES | {new})
    assert not absent(command, FILES | {new}, FILES | {new})
    assert not absent(command, FILES, FILES)


@each(
    ("command", "new"),
    [
        ("test -f README.md && grep -q x README.md", "README.md"),
        ("python hello.py | grep -q Hello", "hello.py"),
        ('[ "$(sh hello.sh)" = hi ]', "hello.sh"),
        ("pytest tests/test_a.py", "src/pkg/new.py"),
        ("make check", "GNUmakefile"),
        ("pytest --cov=new tests", "new/__init__.py"),
    ],
)
def test_work_that_a_check_asks_for_is_not_the_checks_own_file(command: str, new: str) -> None:
    assert not absent(command, FILES, FILES | {new})


@given_any(st.text(alphabet="ab ./'\"$(){}<>|&;\\`\n#=-:*[", max_size=60))
def test_any_text_is_read_without_a_fault(command: str) -> None:
    assert all(isinstance(program, Program) and program.argv for program in programs(command))
    list(map(runner_of, programs(command))), absent(command, FILES, {"a"})


@each(
    ("command", "expected"),
    [
        ("pytest -q", []), ("python3 -m unittest -q", []), ("python3 -m unittest discover -s tests", []), ("npm test", []),
        ("pytest tests/test_a.py", []), ("pytest tests/test_b.py::test_x -k old", ["tests/test_b.py"]), ("pytest tests", []),
        ("cd api && pytest test_b.py", ["api/test_b.py"]), ("python3 -m unittest tests.test_a", []),
        ("python3 -m unittest -q tests.test_b.Case", ["tests/test_b.py"]), ("npx jest src/b.test.ts", ["src/b.test.ts"]),
        ("grep hello hello.txt", []), ("python3 tool.py", []),
    ],
)  # fmt: skip
def test_a_test_file_that_a_runner_is_told_to_run_and_that_is_not_there(command: str, expected: list[str]) -> None:
    assert unwritten(command, ["tests/test_a.py"]) == expected
