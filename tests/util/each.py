"""Many small cases in one test: whatever is wrong is still named case by case, and nobody pays for a test of each."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]
SHOWN = 8  # failures that are told whole; a spoiled parser fails in a thousand cases at once


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test with every case, as `parametrize` would, but as one test. A case has its own `tmp_path` and patches."""
    parts = (names,) if isinstance(names, str) else names
    given = [dict(zip(parts, (case,) if isinstance(names, str) else case, strict=True)) for case in cases]

    def with_cases(test: Test) -> Test:
        signature = inspect.signature(test)

        @wraps(test)
        def all_cases(*place: Any, **fixtures: Any) -> None:
            wrong = []
            for number, case in enumerate(given):
                try:
                    _alone(test, place, case, fixtures, number)
                except Exception as error:
                    error.add_note(f"in the case {repr(case)[:500]}")
                    wrong.append(error)
            if len(wrong) == 1:
                raise wrong[0]
            if wrong:
                raise ExceptionGroup(f"{len(wrong)} of {len(given)} cases", wrong[:SHOWN])

        rest = [one for name, one in signature.parameters.items() if name not in parts]
        all_cases.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return all_cases

    return with_cases


def _alone(test: Test, place: Sequence[Any], case: dict[str, Any], fixtures: dict[str, Any], number: int) -> None:
    """Run one case in a folder of its own and take back what it patched."""
    own = dict(fixtures)
    if "tmp_path" in own:
        own["tmp_path"] = own["tmp_path"] / f"case-{number}"
        own["tmp_path"].mkdir()
    with pytest.MonkeyPatch.context() as patch:
        if "monkeypatch" in own:
            own["monkeypatch"] = patch
        test(*place, **case, **own)
