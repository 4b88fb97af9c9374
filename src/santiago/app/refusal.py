"""Telling programs that their input was refused: by a result.json in their out-dir, if no run has begun there."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from santiago.artifacts.files import LARGEST, read_bytes, write_whole
from santiago.artifacts.names import RESULT, has_begun
from santiago.artifacts.run_locations import refuse_linked
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.plan import CONTRACT_VERSION
from santiago.contract.reasons import Reason
from santiago.contract.result import Result, Summary, TotalUsage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def write_refusal(out_dir: Path, run_id: str | None, message: str, reason: Reason) -> None:
    """Write a result.json that tells a program why there is no plan or run."""
    refuse_linked(out_dir)
    result = Result(
        contract_version=CONTRACT_VERSION, run_id=run_id, status="failed", reason=reason, message=message,
        next_action="fix_input", stories=(), summary=Summary(), usage=TotalUsage(), branch=None, head=None,
    )  # fmt: skip
    write_whole(out_dir / RESULT, codec.canonical(result))


@contextmanager
def told_in_result(out_dir: Path) -> Iterator[None]:
    """Write a result if an invalid input keeps a run from beginning."""
    try:
        yield
    except SantiagoError as error:
        if error.reason is Reason.INVALID_INPUT and not is_of_a_run(out_dir):
            with suppress(SantiagoError):  # the first error is the one to report
                write_refusal(out_dir, None, error.message, error.reason)
        raise


def is_of_a_run(out_dir: Path) -> bool:
    """Tell whether a run has begun in a folder. A result that names a missing log also came from a run."""
    if has_begun(out_dir):
        return True
    try:
        content = read_bytes(out_dir / RESULT, LARGEST)
    except SantiagoError:
        return (out_dir / RESULT).exists()
    try:
        return codec.decode(Result, content, RESULT).head is not None
    except SantiagoError:
        return True
