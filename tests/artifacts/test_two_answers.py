"""Two people answer one question at the same time: one of them counts, and the other is told who and when."""

from __future__ import annotations

import multiprocessing
import time
from typing import TYPE_CHECKING

from santiago.artifacts.inbox import Inbox
from santiago.contract.moments import ms_of
from santiago.contract.ports.desk import Letter

if TYPE_CHECKING:
    from multiprocessing.synchronize import Barrier
    from pathlib import Path

ROUNDS = 300


def answer_all(out_dir: Path, actor: str, together: Barrier, told: multiprocessing.Queue[list[str]]) -> None:
    """Answer question after question; note who counted, as this process was told it."""
    inbox, counted = Inbox(out_dir), []
    for number in range(ROUNDS):
        together.wait()
        won = inbox.drop(Letter(kind="answer", subject=f"S{number}-1", answer="approve", actor=actor))
        first = inbox.answered(f"S{number}-1")
        counted.append(f"{actor} won" if won else f"{first and first[0]} won")
        if number % 2:  # every other answer is heard at once, while the other process may still be looking
            inbox.put_away([one for one in inbox.collect() if one.actor == actor])
    told.put(counted)


def test_of_two_who_answer_at_once_in_hundreds_of_rounds_one_counts_and_the_other_is_told_who(tmp_path: Path) -> None:
    began = time.time_ns() // 1_000_000
    fork = multiprocessing.get_context("fork")
    together, told = fork.Barrier(2, timeout=60), fork.Queue()
    both = [fork.Process(target=answer_all, args=(tmp_path, name, together, told)) for name in ("ann", "bob")]
    for one in both:
        one.start()
    first, second = told.get(timeout=60), told.get(timeout=60)
    for one in both:
        one.join(60)
    assert first == second, "both know the same winner"
    assert {"ann won", "bob won"} >= set(first)
    inbox = Inbox(tmp_path)
    for number in (0, 1, ROUNDS - 1):
        who = inbox.answered(f"S{number}-1")
        assert who is not None
        assert f"{who[0]} won" == first[number]
        assert began <= ms_of(who[1]) <= time.time_ns() // 1_000_000


def test_what_answered_nothing_leaves_its_question_to_others(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    assert inbox.drop(Letter(kind="answer", subject="Q1", answer="stop", actor="ann"))
    inbox.put_away(inbox.collect(), ["answer-Q1.json"])
    assert inbox.answered("Q1") is None
    assert inbox.drop(Letter(kind="answer", subject="Q1", answer="approve", actor="bob"))
    inbox.put_away(inbox.collect())
    assert (inbox.answered("Q1") or ("", ""))[0] == "bob"
    assert not inbox.drop(Letter(kind="answer", subject="Q1", answer="approve", actor="ann"))


def test_a_file_that_is_no_letter_answers_nothing(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    inbox.path.mkdir()
    (inbox.path / "answer-Q1.json").write_text("[1]")
    assert inbox.answered("Q1") is None
