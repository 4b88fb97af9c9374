"""`santiago status`: the state of a run by chunk, what needs a person, and the other runs of this repository."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.app.finding import find_run
from santiago.app.loading import load
from santiago.artifacts.run_locations import SESSIONS, find_root
from santiago.cli.opened_board import board_here
from santiago.cli.view.terminal import show_page
from santiago.contract.errors import SantiagoError
from santiago.report import run_page, tasks
from santiago.report.page import Line, Page
from santiago.report.run_status import OTHERS, document

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 50
"""How many tickets of a queue are listed, and how many planning sessions programs are told."""


def status(run: str | None, failed: bool, all_stories: bool, as_tasks: bool, as_json: bool) -> None:
    """Show a run, or what there is in a project that has none."""
    board = board_here(None if as_json else _MOST) if not as_tasks else None
    on_board = {"board": board} if board else {}
    try:
        out_dir = find_run(run)
    except SantiagoError:
        sessions = _sessions(find_root(Path.cwd())) if run is None and not as_tasks else []
        if run is not None or not (board or sessions):
            raise
        alone = {"contract_version": 1, **on_board, "sessions": _named(sessions)}
        show_page(Page(lambda _: _without_run(board, sessions), lambda: alone), as_json=as_json)
        return
    found = load(out_dir)
    if as_tasks:
        show_page(Page(lambda _: (), lambda: tasks.document(found)), as_json=True)
        return
    sessions = _sessions(Path(found.run_input.repo_path))
    page = Page(
        lambda columns: run_page.lines(
            found, columns, stories=all_stories, failed=failed, board=board, sessions=_listed(sessions)
        ),
        lambda: {**document(found), "sessions": _named(sessions), **on_board},
    )
    show_page(page, as_json=as_json)


def _without_run(board: dict[str, Any] | None, sessions: list[tuple[str, str]]) -> Iterator[Line]:
    """Yield the board and the planning sessions of a project that has no run yet."""
    if board:
        from santiago.report.board_pages import board_page  # loaded here, since most projects have no board

        yield from board_page(board).lines(0)
    if sessions:
        yield Line(_listed(sessions))


def _sessions(root: Path | None) -> list[tuple[str, str]]:
    if root is None or not (root / SESSIONS).is_dir():
        return []
    from santiago.report.session_review import sessions_of  # loaded here, since most repositories have no session

    return sessions_of(root, _MOST)


def _named(sessions: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"session_id": name, "state": word} for name, word in sessions]


def _listed(sessions: list[tuple[str, str]]) -> str:
    told = [f"{name} {word}" for name, word in sessions[:OTHERS]]
    told += [f"and {len(sessions) - OTHERS} older"] if len(sessions) > OTHERS else []
    return (
        "planning sessions, newest first: " + " · ".join(told) + "   (`santiago review ID` shows one)" if told else ""
    )
