"""A check that cannot fail shows nothing: promise 2, "nothing was checked" is never green."""

from __future__ import annotations

import pytest

from santiago.verification.commandline.noop import is_noop
from santiago.verification.counting import known_runner

CANNOT_FAIL = [
    "", "   ", "# pytest", "true", ":", "/bin/true", "exit", "exit 0", "echo ok", "printf done", "sleep 1", "true # pytest tests",
    "pytest || true", "pytest || :", "pytest||true", "pytest || echo failed", "pytest || exit 0", "pytest; true", "pytest\ntrue", "pytest; exit 0",
    "make test || true", "(pytest || true)", "pytest && true || true", "pytest &", "pytest & wait", "cmd --help", "pytest --version", "python -V",
    "node -v", "go version", "test 1 = 1", "[ 1 = 1 ]", "[ a != b ]", "[[ 1 == 1 ]]", "test -n x", "env true", "FOO=1 true", "FOO=1", "timeout 5 true",
    "time true", "sh -c true", "bash -c 'exit 0'", "sh -c 'pytest || true'", "bash -lc \"pytest; true\"", "eval true", "python -c pass", "python3 -c ''",
    "python -c 'print(\"42 passed\")'", "cd src", "cd src && true", "true && echo ok", "./check.sh | cat", "./check.sh | tee log", "which pytest",
    "command -v pytest", "mkdir -p out", "echo 'pytest' > log", "true 2>&1", "set -e; true", "if true; then echo ok; fi", "for x in 1 2; do echo $x; done",
    "{ true; }", "\\\ntrue", "nohup true", "uv run true", "touch done.txt",
    "true || exit 1; echo ok", "exit 0; pytest", "fail=0; pytest; exit $fail", "log() { echo \"$1\"; }; log hi", "return 0", "echo ok; exit $?",
    "pytest && exit 0; echo no", "out=$(pytest); echo ok", "set -e; x=1; echo ok", "./check.sh | tee log; set -o pipefail",
]  # fmt: skip
CAN_FAIL = [
    "pytest", "python -m pytest -q", "make test", "npm test", "./check.sh", "pytest && true", "true && pytest", "cd src && pytest", "pytest || exit 1",
    "pytest || false", "false", "exit 1", "grep -q hello out.txt", "test -f out.txt", "[ -s out.txt ]", "[ \"$(cat x)\" = 1 ]", "test $A = 1",
    "python hello.py | grep -q hi", "tool --help | grep -q usage", "echo hi | grep -q hi", "pytest; exit $?", "pytest | tee log", "cargo test 2>&1 | tail",
    "set -e; pytest; true", "sh -c 'set -e; pytest; true'", "sh -ec 'pytest; true'", "! grep -q TODO src", "pytest -k 'a || true'", "grep '|| true' x",
    "if pytest; then true; else exit 1; fi", "pytest || { echo bad; exit 1; }", "python -c 'import calc; assert calc.add(1, 2) == 3'", "ls out.txt",
    "node --test", "timeout 60 pytest", "(cd sub && pytest)", "cmp a b", "diff a b", "pytest 'unclosed", "true; pytest", "sleep 1; pytest", "bash -c 'pytest'",
    "echo $(pytest) && pytest", "pytest -v", "python3 -m pytest -v", "python3 -m unittest -v", "tox -v", "go test -v",
    "[ \"$(./calc)\" = 5 ] || exit 1; echo ok", "[ \"$(./calc)\" = 5 ] || exit; echo ok", "pytest || exit\necho ok", "pytest || die no; echo ok",
    "fail=0; ./calc || fail=1; echo done; exit $fail", "n=0\n./calc || n=$((n+1))\nexit ${n}", "cd src\nset -e\n./calc\necho ok",
    "X=1\nset -eu\n./calc\necho ok", "assert() { [ \"$1\" = 5 ] || exit 1; }\nassert \"$(./calc)\"\necho ok", ". ./lib.sh\nassert 1 2\necho ok",
    "die() { echo no; exit 1; }\n./calc || die\necho ok", "set -o pipefail; ./check.sh | tee log", "set -e; out=$(./calc); echo ok",
    "./calc && return 1; echo ok", "trap 'exit 1' ERR; ./calc; echo ok", "return 1", "(" * 5000 + "pytest" + ")" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("command", CANNOT_FAIL)
def test_what_cannot_fail_is_a_noop(command: str) -> None:
    assert is_noop(command)


@pytest.mark.parametrize("command", CAN_FAIL)
def test_what_can_fail_is_no_noop(command: str) -> None:
    assert not is_noop(command)


HONEST_SCRIPTS = {
    "or_exit": '#!/bin/sh\n[ "$(sh calc.sh 2 3)" = 5 ] || exit 1\necho ok\n',
    "counter": '#!/bin/sh\nfail=0\n[ "$(sh calc.sh 2 3)" = 5 ] || fail=1\necho done\nexit $fail\n',
    "shebang": '#!/bin/sh -e\n[ "$(sh calc.sh 2 3)" = 5 ]\necho ok\n',
    "function": '#!/bin/sh\nassert() { [ "$1" = "$2" ] || exit 1; }\nassert "$(sh calc.sh 2 3)" 5\necho ok\n',
    "late_set": '#!/bin/bash\ncd "$(dirname "$0")/.."\nset -euo pipefail\n[ "$(sh calc.sh 2 3)" = 5 ]\necho ok\n',
}


@pytest.mark.parametrize("script", HONEST_SCRIPTS.values(), ids=HONEST_SCRIPTS)
def test_a_script_that_can_say_no_is_a_check_whatever_its_last_command_is(script: str) -> None:
    assert not known_runner.behind("./t/add.sh", {"t/add.sh": script.encode()}.get).idle


def test_a_shell_that_is_told_to_stop_at_a_failure_makes_any_script_a_check() -> None:
    files = {"t/add.sh": b"./calc 2 3\necho ok\n"}
    assert known_runner.behind("sh t/add.sh", files.get).idle
    assert not known_runner.behind("sh -e t/add.sh", files.get).idle
    assert not known_runner.behind("bash -o errexit t/add.sh", files.get).idle


@pytest.mark.parametrize("script", ["#!/bin/sh\necho ok\n", "./calc || true\n", "#!/bin/sh\nset -e\necho ok\nexit 0\n"])
def test_a_script_that_only_talks_is_no_check(script: str) -> None:
    assert known_runner.behind("sh t/add.sh", {"t/add.sh": script.encode()}.get).idle
