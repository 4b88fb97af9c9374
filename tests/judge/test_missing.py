"""What keeps a check from running: this machine's lack blocks a run, what the story has still to make does not.

What is proposed for it is what the repository speaks for.
"""

from typing import Any

from santiago.app.start.environment import remedy
from santiago.contract.ports.judge import Proposal
from santiago.judge.missing import Missing, found_no_test, missing, waits_for_tests
from tests.judge.showing import shown
from tests.util.each import each

PYPROJECT = {"pyproject.toml": b'[project]\nname = "app"\ndependencies = ["attrs>=22", "More-Itertools"]\n'}
TRACE = "tests/test_a.py:1: in <module>\n    import {0}\nE   ModuleNotFoundError: No module named '{0}'\n"


def found(
    output: str, *, code: int = 1, files: dict[str, bytes] | None = None, words: tuple[str, ...] = (), **more: Any
) -> tuple[str, str] | None:
    given = files or {}
    lack = missing(shown(exit_code=code, output=output, **more), given, given.get, words)
    return (lack.kind, lack.name) if lack else None


@each(
    ("output", "code", "name"),
    [
        ("/bin/sh: 1: no-such-tool: not found\n", 127, "no-such-tool"),
        ("bash: line 1: no-such-tool: command not found\n", 127, "no-such-tool"),
        ("/bin/sh: 1: /opt/tool: Permission denied\n", 126, "/opt/tool"),
        ("make: no-such-tool: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n", 2, "no-such-tool"),
        ("", 127, ""),
    ],
)
def test_a_program_that_is_not_installed(output: str, code: int, name: str) -> None:
    assert found(output, code=code) == ("program", name)


@each("path", ["./made-by-the-story", "scripts/check.sh"])
def test_a_program_inside_the_checkout_is_the_storys_to_make(path: str) -> None:
    assert found(f"/bin/sh: 1: {path}: not found\n", code=127) is None


@each("python", ["python3", "/usr/bin/python3.12", ".venv/bin/python"])
def test_a_test_runner_that_python_does_not_have(python: str) -> None:
    assert found(f"{python}: No module named pytest\n") == ("Python", "pytest")


@each(
    ("output", "name"),
    [
        (
            "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --cov=app --cov-branch\n",
            "pytest_cov",
        ),
        ("__main__.py: error: unrecognized arguments: -q --timeout=20\n", "pytest_timeout"),
        ("tests/test_a.py::test_a ERROR\nE       fixture 'mocker' not found\n", "pytest_mock"),
    ],
)
def test_a_plugin_that_the_settings_of_pytest_take_for_granted(output: str, name: str) -> None:
    assert found(output, code=4) == ("Python", name)
    assert found(output.replace("--", "--own-").replace("mocker", "shop"), code=4) is None
    words, _ = proposed(".venv/bin/python -m pytest", "Python", name, {}, (".venv",))
    assert words == f"Install it there: `.venv/bin/python -m pip install {name.replace('_', '-')} pytest`."


@each(
    ("module", "files", "words", "expected"),
    [
        # a module that nobody declares is still to be written, and a declared one is the machine's lack
        ("attr", {}, (), None),
        ("requests", {}, (), None),
        ("attrs", PYPROJECT, (), ("Python", "attrs")),
        ("more_itertools", PYPROJECT, (), ("Python", "more_itertools")),
        # unless the repository holds it or a story names it
        ("attrs", {**PYPROJECT, "src/attrs/__init__.py": b""}, (), None),
        ("attrs", {**PYPROJECT, "attrs.py": b""}, (), None),
        ("attrs", {**PYPROJECT, "lib/attrs.pyi": b""}, (), None),
        ("attrs", PYPROJECT, ("src/attrs.py",), None),
    ],
)
def test_a_python_module_that_is_not_there(
    module: str, files: dict[str, bytes], words: tuple[str, ...], expected: tuple[str, str] | None
) -> None:
    assert found(TRACE.format(module), files=files, words=words) == expected


def test_a_node_module_is_the_machines_lack_and_a_file_is_not() -> None:
    text = "Error: Cannot find module '{}'\nRequire stack:\n- /x/a.test.js\n"
    assert found(text.format("@scope/thing")) == ("Node", "@scope/thing")
    assert found(text.format("./app")) is None
    assert found(text.format("thing"), files={"packages/thing/package.json": b"{}"}) is None


@each(
    ("output", "name"),
    [
        ("a_test.go:4:2: no required module provides package example.org/x; to add it:\n", "example.org/x"),
        ("error: no matching package named `serde` found\n", "serde"),
        ("error: failed to get `serde` as a dependency of package `app`\n", "serde"),
    ],
)
def test_what_a_build_cannot_get(output: str, name: str) -> None:
    assert found(output) == ("build", name)


NAMES = "Failed to establish a new connection: [Errno -3] Temporary failure in name resolution"


@each(
    ("output", "kind", "name"),
    [
        # failed look-ups: uv and cargo, pip, npm and node, go, git and curl, java, python
        ("error: Failed to fetch\n  Caused by: dns error\n  Caused by: failed to lookup address information", "network", ""),
        ("WARNING: Retrying: NewConnectionError('" + NAMES + "')", "network", ""),
        ("npm error code EAI_AGAIN\nnpm error request to https://registry.npmjs.org/x failed", "network", ""),
        ("Error: getaddrinfo ENOTFOUND api.example.org", "network", "api.example.org"),
        ("go: dial tcp: lookup proxy.golang.org on 1.1.1.1:53: dial udp: connect: network is unreachable", "network", "proxy.golang.org"),
        ("fatal: unable to access 'https://x.org/': Could not resolve host: x.org", "network", "x.org"),
        ("Caused by: java.net.UnknownHostException: repo.maven.apache.org", "network", "repo.maven.apache.org"),
        ("Could not transfer artifact a:b:pom:1 from/to central (https://repo.maven.apache.org/maven2): x", "network", "repo.maven.apache.org"),
        ("socket.gaierror: [Errno -2] Name or service not known", "network", ""),
        # a service of this machine
        ("connection to server at \"localhost\" (127.0.0.1), port 5432 failed: Connection refused", "service", "localhost:5432"),
        ("Error: connect ECONNREFUSED 127.0.0.1:6379", "service", "localhost:6379"),
        # programs that the check itself starts
        ("error: Failed to spawn: `pytest`\n  Caused by: No such file or directory", "program", "pytest"),
        ("error: Failed to spawn: pytest\n  cause: No such file or directory (os error 2)\n", "program", "pytest"),
        ("error: linker `cc` not found", "program", "cc"),
        ("error: rustup could not choose a version of cargo to run, because one wasn't specified explicitly", "program", "cargo"),
        ('# runtime/cgo\ncgo: C compiler "gcc" not found: exec: "gcc": executable file not found in $PATH', "program", "gcc"),
        ("subprocess.py:1: in _execute_child\nE   FileNotFoundError: [Errno 2] No such file or directory: 'docker'", "program", "docker"),
        ("Error: spawn psql ENOENT", "program", "psql"),
        ("-- No CMAKE_C_COMPILER could be found.", "program", "CMAKE_C_COMPILER"),
        # variables
        ("shop.py:2: in <module>\n    os.environ['DB_URL']\n<frozen os>:679: in __getitem__\nE   KeyError: 'DB_URL'", "variable", "DB_URL"),
        ("./check.sh: line 2: DB_URL: unbound variable", "variable", "DB_URL"),
        ("You must either define the environment variable DJANGO_SETTINGS_MODULE or call", "variable", "DJANGO_SETTINGS_MODULE"),
        # packages
        ("This package doesn't seem to be present in your lockfile; try to make an install", "packages", ""),
        ("Local package.json exists, but node_modules missing, did you mean to install?", "packages", ""),
    ],
)  # fmt: skip
def test_what_is_outside_the_repository_is_told_by_what_the_check_says(output: str, kind: str, name: str) -> None:
    assert found(output) == (kind, name)
    said = Missing(command="make", kind=kind, name=name).sentence
    assert (kind in said, name in said) == (True, True), "each kind has a sentence of its own"
    assert missing(shown("a b-", output=output), (), lambda _: None, ()) is None, (
        "a check of which something passes can run"
    )


@each(
    "output",
    [
        "E   KeyError: 'PRICE'", "AssertionError: 'ENOTFOUND' != 'EAI'", "E   FileNotFoundError: [Errno 2] No such file or directory: 'prices.json'",
        "Error: spawn ./made-by-the-story ENOENT", "AssertionError: lookup of a price failed", "TypeError: run install() first",
        "npm notice Run `npm install -g npm@11` to update!", "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
        "KeyError: no lookup shop.price here", "set the environment variable DEBUG to see more", "Failed to resolve 'shop.price'",
    ],
)  # fmt: skip
def test_what_only_sounds_like_it_is_the_codes_own_failure(output: str) -> None:
    assert found(output) is None


@each(
    ("command", "kind", "files", "check", "setup"),
    [
        ("uv run pytest", "network", {"pyproject.toml": ""}, "uv run pytest", "uv sync --all-extras"),
        ("cd api && uv run pytest", "Python", {"api/pyproject.toml": ""}, "cd api && uv run pytest", "cd api && uv sync --all-extras"),
        ("yarn test", "packages", {"yarn.lock": ""}, "yarn test", "yarn install --frozen-lockfile"),
        ("yarn test", "packages", {}, "yarn test", "yarn install"),
        ("npx jest", "network", {"package-lock.json": ""}, "npx jest", "npm ci"),
        ("tox -q", "network", {}, "tox --skip-pkg-install -q", "tox --notest"),
        ("nox", "network", {}, "nox -R", "nox --install-only"),
    ],
)  # fmt: skip
def test_what_fetches_is_done_by_set_up_which_has_the_network(
    command: str, kind: str, files: dict[str, str], check: str, setup: str
) -> None:
    assert proposed(command, kind, "x", files)[1] == Proposal(check=check, setup=setup)


def test_what_a_person_does_is_said() -> None:
    assert "`go mod download`" in proposed("go test ./...", "network", "", {})[0]
    assert 'env = ["DB_URL"]' in proposed("pytest", "variable", "DB_URL", {})[0]
    assert "`DB_PASSWORD=… pytest`" in proposed("pytest", "variable", "DB_PASSWORD", {})[0]
    assert "--sandbox off" in proposed("pytest", "service", "localhost:1", {})[0]


def test_a_check_with_any_passing_test_can_run() -> None:
    text = TRACE.format("attrs")
    assert missing(shown("a b-", output=text), PYPROJECT, PYPROJECT.get, ()) is None
    assert missing(shown("a-", output=text), PYPROJECT, PYPROJECT.get, ()) is not None
    assert missing(shown("a", output=text), PYPROJECT, PYPROJECT.get, ()) is None


@each(
    "text",
    [
        "no tests ran in 0.01s", "Ran 0 tests in 0.000s\n\nNO TESTS RAN", "No tests found, exiting with code 1",
        'npm error Missing script: "test"', "make: *** No rule to make target 'test'.  Stop.", "Could not find 'test/'",
    ],
)  # fmt: skip
def test_where_there_is_nothing_to_run_yet_the_base_says_nothing(text: str) -> None:
    assert found_no_test(shown(exit_code=1, output=text))
    assert not found_no_test(shown("a-", output=text))
    assert not found_no_test(shown(output=text))


@each("code", [0, 5])
def test_a_check_waits_for_tests_only_where_there_are_none_that_it_could_have_found(code: int) -> None:
    none = shown(exit_code=code, checks=0, output="no tests ran in 0.01s")
    assert waits_for_tests(none, ["README.md", "words.py"])
    assert not waits_for_tests(shown(exit_code=101, checks=0, output="error: could not compile"), ["src/lib.rs"])
    assert not waits_for_tests(none, ["words.py", "elsewhere/test_words.py"])
    assert not waits_for_tests(shown(exit_code=code), ["words.py"])
    assert not waits_for_tests(shown("a-"), ["words.py"])


def proposed(
    command: str, kind: str, name: str, files: dict[str, str], folders: tuple[str, ...] = ()
) -> tuple[str, Proposal | None]:
    def read(path: str) -> bytes | None:
        return files[path].encode() if path in files else None

    return remedy(Missing(command=command, kind=kind, name=name), files, read, lambda folder: folder in folders)


VENV = "python3 -m venv .venv && .venv/bin/pip install -q"
EXTRAS = '[project]\nname = "shop"\n[project.optional-dependencies]\ntest = ["x"]\ndocs = ["y"]\n'
GROUPS = '[project]\nname = "shop"\n[dependency-groups]\ndev = ["pytest>=8", "responses", {include-group = "x"}]\n'


@each(
    ("files", "install"),
    [
        ({}, "pytest"),
        ({"setup.py": ""}, "-e . pytest"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pytest"),
        ({"pyproject.toml": EXTRAS}, "-e '.[test]' pytest"),
        ({"pyproject.toml": GROUPS}, "-e . 'pytest>=8' responses pytest"),
        ({"pyproject.toml": "not toml ["}, "pytest"),
        ({"requirements.txt": "", "requirements-dev.txt": ""}, "-r requirements-dev.txt -r requirements.txt pytest"),
    ],
)
def test_an_environment_is_made_with_what_the_project_names_for_its_tests(files: dict[str, str], install: str) -> None:
    words, proposal = proposed("python3 -m pytest -q", "Python", "pytest", files)
    assert proposal == Proposal(check=".venv/bin/python -m pytest -q", setup=f"{VENV} {install}")
    assert words.startswith("Let set-up install it: setup = [")
    assert words.endswith("with `.venv/bin/python -m pytest -q` as the check.")


@each(
    ("command", "check"),
    [
        ("python -m unittest", ".venv/bin/python -m unittest"),
        ("pytest -x", ".venv/bin/python -m pytest -x"),
        ("uv run pytest", ".venv/bin/python -m pytest"),
        ("poetry run python -m pytest", ".venv/bin/python -m pytest"),
        ("make test", 'PATH="$PWD/.venv/bin:$PATH" make test'),
        ("cd api && python3 -m pytest", "cd api && .venv/bin/python -m pytest"),
    ],
)
def test_the_check_uses_the_environment_that_is_made(command: str, check: str) -> None:
    _, proposal = proposed(command, "Python", "pytest", {})
    assert proposal is not None
    assert proposal.check == check
    assert proposal.setup.startswith("cd api && " if command.startswith("cd") else "python3")


def test_an_environment_that_is_there_is_used_and_not_made_again() -> None:
    words, proposal = proposed("python3 -m pytest", "Python", "pytest", {}, (".venv",))
    assert proposal == Proposal(check=".venv/bin/python -m pytest")
    words, proposal = proposed(".venv/bin/python -m pytest", "Python", "pytest", {}, (".venv",))
    assert (words, proposal) == ("Install it there: `.venv/bin/python -m pip install pytest`.", None)


@each(
    ("command", "files", "setup"),
    [
        ("npm test", {"package.json": "{}"}, "npm install"),
        ("npm test", {"package-lock.json": "{}"}, "npm ci"),
        ("pnpm test", {"pnpm-lock.yaml": ""}, "pnpm install --frozen-lockfile"),
        ("cd web && npm test", {"web/package-lock.json": "{}"}, "cd web && npm ci"),
    ],
)
@each(("kind", "name"), [("Node", "left-pad"), ("program", "jest")])
def test_packages_are_installed_by_their_lock_file(
    kind: str, name: str, command: str, files: dict[str, str], setup: str
) -> None:
    assert proposed(command, kind, name, files)[1] == Proposal(check=command, setup=setup)


@each(("command", "name"), [("npm test", "npm"), ("just test", "just"), ("make test", "node")])
def test_a_program_of_the_machine_is_for_a_person_to_install(command: str, name: str) -> None:
    words, proposal = proposed(command, "program", name, {"package.json": "{}"})
    assert (words.startswith("Install it"), proposal) == (True, None)
