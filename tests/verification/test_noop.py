"""A check that cannot fail shows nothing: promise 2, "nothing was checked" is never green."""

from __future__ import annotations

import pytest

from santiago.verification.noop import is_noop

CANNOT_FAIL = [
    "", "   ", "# pytest", "true", ":", "/bin/true", "exit", "exit 0", "echo ok", "printf done", "sleep 1", "true # pytest tests",
    "pytest || true", "pytest || :", "pytest||true", "pytest || echo failed", "pytest || exit 0", "pytest; true", "pytest\ntrue", "pytest; exit 0",
    "make test || true", "(pytest || true)", "pytest && true || true", "pytest &", "pytest & wait", "cmd --help", "pytest --version", "python -V",
    "node -v", "go version", "test 1 = 1", "[ 1 = 1 ]", "[ a != b ]", "[[ 1 == 1 ]]", "test -n x", "env true", "FOO=1 true", "FOO=1", "timeout 5 true",
    "time true", "sh -c true", "bash -c 'exit 0'", "sh -c 'pytest || true'", "bash -lc \"pytest; true\"", "eval true", "python -c pass", "python3 -c ''",
    "python -c 'print(\"42 passed\")'", "cd src", "cd src && true", "true && echo ok", "./check.sh | cat", "./check.sh | tee log", "which pytest",
    "command -v pytest", "mkdir -p out", "echo 'pytest' > log", "true 2>&1", "set -e; true", "if true; then echo ok; fi", "for x in 1 2; do echo $x; done",
    "{ true; }", "\\\ntrue", "nohup true", "uv run true", "touch done.txt",
]  # fmt: skip
CAN_FAIL = [
    "pytest", "python -m pytest -q", "make test", "npm test", "./check.sh", "pytest && true", "true && pytest", "cd src && pytest", "pytest || exit 1",
    "pytest || false", "false", "exit 1", "grep -q hello out.txt", "test -f out.txt", "[ -s out.txt ]", "[ \"$(cat x)\" = 1 ]", "test $A = 1",
    "python hello.py | grep -q hi", "tool --help | grep -q usage", "echo hi | grep -q hi", "pytest; exit $?", "pytest | tee log", "cargo test 2>&1 | tail",
    "set -e; pytest; true", "sh -c 'set -e; pytest; true'", "sh -ec 'pytest; true'", "! grep -q TODO src", "pytest -k 'a || true'", "grep '|| true' x",
    "if pytest; then true; else exit 1; fi", "pytest || { echo bad; exit 1; }", "python -c 'import calc; assert calc.add(1, 2) == 3'", "ls out.txt",
    "node --test", "timeout 60 pytest", "(cd sub && pytest)", "cmp a b", "diff a b", "pytest 'unclosed", "true; pytest", "sleep 1; pytest", "bash -c 'pytest'",
    "echo $(pytest) && pytest", "pytest -v", "python3 -m pytest -v", "python3 -m unittest -v", "tox -v", "go test -v",
]  # fmt: skip


@pytest.mark.parametrize("command", CANNOT_FAIL)
def test_what_cannot_fail_is_a_noop(command: str) -> None:
    assert is_noop(command)


@pytest.mark.parametrize("command", CAN_FAIL)
def test_what_can_fail_is_no_noop(command: str) -> None:
    assert not is_noop(command)
