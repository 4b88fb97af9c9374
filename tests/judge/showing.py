"""What checks showed, written down in short: `passed`, `failed` and `skipped` tests of one command."""

from santiago.contract.outcomes import CheckResult, CheckVerdict, Output
from santiago.contract.quantities import Seconds
from santiago.judge.comparison import Shown
from santiago.judge.naming.named_tests import Status, Tests


def shown(
    words: str = "", *, exit_code: int | None = None, output: str = "", command: str = "pytest", **more: object
) -> Shown:
    """`a b- c?` is: a passes, b fails, c is skipped; no words at all: the runner names no tests."""
    tests: Tests | None = {} if words else None
    for word in words.split():
        name, sign = (word[:-1], word[-1]) if word[-1] in "-?" else (word, "")
        assert tests is not None
        tests[name] = "failed" if sign == "-" else "skipped" if sign == "?" else "passed"
    red = any(status == "failed" for status in (tests or {}).values())
    code = exit_code if exit_code is not None else int(red)
    fields: dict[str, object] = {
        "command": command, "exit_code": code, "seconds": Seconds(1), "timed_out": False,
        "output": Output(head=output, tail="", dropped=0, total=len(output)), "checks": len(tests) if tests else None,
        "verdict": CheckVerdict.FAIL if code else CheckVerdict.PASS, **more,
    }  # fmt: skip
    return Shown(CheckResult(**fields), tests)  # type: ignore[arg-type]


def results(passed: str = "", failed: str = "", skipped: str = "") -> Tests:
    """What the tests with these names did; ` | ` is between names."""
    words: dict[Status, str] = {"passed": passed, "failed": failed, "skipped": skipped}
    return {name: status for status, names in words.items() if names for name in names.split(" | ")}
