"""Who reaches a run from outside is heard once: the first wins, the second is told, and nothing dropped there can hurt."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from santiago.artifacts.inbox import LARGEST, MOST, Inbox
from santiago.contract.answers import Letter
from santiago.contract.moments import ms_of
from tests.util.each import each

ANSWER = Letter(kind="answer", subject="Q1", answer="approve", text="go on", actor="ann")


def test_a_request_is_collected_as_dropped_and_a_second_answer_told_after_the_first_was_taken(tmp_path: Path) -> None:
    inbox, other = Inbox(tmp_path), Letter(kind="answer", subject="Q1", answer="stop")
    assert inbox.collect() == []
    assert inbox.drop(ANSWER)
    assert not inbox.drop(other)
    (found,) = inbox.collect()
    for name in ("kind", "subject", "answer", "text", "actor"):
        assert getattr(found, name) == getattr(ANSWER, name)
    assert found.name == "answer-Q1.json"
    inbox.put_away([found])
    assert inbox.collect() == []
    assert not inbox.drop(other)
    assert inbox.collect() == []
    assert inbox.drop(Letter(kind="answer", subject="Q2", answer="stop"))


def test_requests_come_in_one_order_whoever_was_first(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    for name in ("S10", "S2", "S2"):
        assert inbox.drop(Letter(kind="change", subject=name, text="otherwise"))
    for name in ("Q10", "Q2"):
        assert inbox.drop(Letter(kind="answer", subject=name, answer="approve"))
    for kind in ("stop-detach", "stop", "stop-now"):
        assert inbox.drop(Letter(kind=kind))
    (tmp_path / "inbox/.1-answer-Q1.json.tmp").write_bytes(b"{")  # still being written
    order = "stop-now stop stop-detach answer-Q2 answer-Q10 change-S2-1 change-S2-2 change-S10-1"
    assert [request.name for request in inbox.collect()] == [f"{name}.json" for name in order.split()]


def test_a_run_can_be_stopped_again_after_it_was_resumed(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    for _ in range(3):
        assert inbox.drop(Letter(kind="stop"))
        assert not inbox.drop(Letter(kind="stop"))
        inbox.put_away(inbox.collect())
    assert sorted(path.name for path in (tmp_path / "inbox/done").iterdir()) == ["stop.2.json", "stop.3.json", "stop.json"]  # fmt: skip


def test_a_question_of_any_name_finds_its_file_and_stays_inside_the_inbox(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    for name in ("../../etc/x", "plan/1", "a b\n", "é"):
        assert inbox.drop(Letter(kind="answer", subject=name, answer="approve"))
    assert {request.subject for request in inbox.collect()} == {"../../etc/x", "plan/1", "a b\n", "é"}
    assert {path.name for path in tmp_path.iterdir()} == {"inbox"}
    with pytest.raises(ValueError, match="not a story"):
        inbox.drop(Letter(kind="change", subject="../S1"))


@each(
    ("name", "content"),
    [
        ("answer-Q1.json", b""),
        ("answer-Q1.json", b"[" * 100_000),
        ("answer-Q1.json", b"\xff\xfe{}"),
        ("answer-Q1.json", b"[1]"),
        ("answer-Q1.json", b"x" * (LARGEST + 1)),
        ("answer-Q1.json", json.dumps({"kind": "answer", "subject": "Q2", "answer": "", "text": "", "actor": ""}).encode()),
        ("change-S1-1.json", json.dumps({"kind": "change", "subject": 7, "answer": "", "text": "", "actor": ""}).encode()),
        ("stop.json", json.dumps({"kind": ["stop"], "subject": "", "answer": "", "text": "", "actor": ""}).encode()),
        ("whatever.txt", b"hello"),
    ],
)  # fmt: skip
def test_what_cannot_be_understood_is_reported_and_put_away(tmp_path: Path, name: str, content: bytes) -> None:
    inbox = Inbox(tmp_path)
    inbox.drop(Letter(kind="answer", subject="Q7", answer="approve"))
    (tmp_path / "inbox" / name).write_bytes(content)
    good, bad = inbox.collect()
    assert (good.subject, good.fault) == ("Q7", "")
    assert bad.fault
    assert bad.name == name
    inbox.put_away([good, bad])
    assert inbox.collect() == []


@each(
    ("name", "content", "fault"),
    [
        ("answer-Q1", "{}", 'its "kind" is missing'),
        ("answer-Q1", '{"kind": "answer", "subject": "Q1"}', 'its "answer" is missing'),
        ("answer-Q1", '{"kind": "answer", "subject": 7}', 'its "subject" is not text'),
        ("answer-Q1", "[]", "it is not a JSON object"),
        ("answer-Q1", "stop", "it is not JSON that can be read"),
        ("stop", '{"kind": "stop"}', ""),
        ("change-S2-1", '{"kind": "change", "subject": "S2", "text": "in French"}', ""),
    ],
)
def test_a_request_needs_its_subject_faults_name_the_field(tmp_path: Path, name: str, content: str, fault: str) -> None:
    (tmp_path / "inbox").mkdir()
    (tmp_path / f"inbox/{name}.json").write_text(content)
    (found,) = Inbox(tmp_path).collect()
    assert found.fault == fault
    if found.kind == "change":
        assert (found.text, found.actor) == ("in French", "user")


def test_a_link_or_a_pipe_in_the_inbox_is_reported_and_never_followed_or_waited_for(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    inbox.drop(Letter(kind="stop"))
    (tmp_path / "inbox/answer-Q1.json").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "inbox/change-S1-1.json")
    signal.alarm(600)  # where it is waited for, nobody ever writes to it
    try:
        found = inbox.collect()
    finally:
        signal.alarm(0)
    assert [bool(request.fault) for request in found] == [False, True, True]


def test_a_flood_is_read_in_parts_and_a_stop_is_in_the_first(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    (tmp_path / "inbox").mkdir()
    for number in range(MOST + 500):
        (tmp_path / f"inbox/x{number}.json").write_text("{")
    inbox.drop(Letter(kind="stop"))
    first = inbox.collect()
    assert (first[0].kind, first[0].fault, len(first)) == ("stop", "", MOST + 1)
    inbox.put_away(first)
    second = inbox.collect()
    assert len(second) == 500
    inbox.put_away(second)
    assert inbox.collect() == []


def answer_all(
    out_dir: Path, actor: str, rounds: int, together: Barrier, told: multiprocessing.Queue[list[str]]
) -> None:
    """Answer question after question; note who counted, as this process was told it."""
    inbox, counted = Inbox(out_dir), []
    for number in range(rounds):
        together.wait()
        won = inbox.drop(Letter(kind="answer", subject=f"S{number}-1", answer="approve", actor=actor))
        first = inbox.answered(f"S{number}-1")
        counted.append(f"{actor} won" if won else f"{first and first[0]} won")
        if number % 2:  # every other answer is heard at once, while the other process may still be looking
            inbox.put_away([one for one in inbox.collect() if one.actor == actor])
    told.put(counted)


def both_answer(out_dir: Path, rounds: int) -> None:
    """Have two processes answer each question at the same time, and see who counted."""
    began = time.time_ns() // 1_000_000
    fork = multiprocessing.get_context("fork")
    together, told = fork.Barrier(2, timeout=60), fork.Queue()
    both = [fork.Process(target=answer_all, args=(out_dir, name, rounds, together, told)) for name in ("ann", "bob")]
    for one in both:
        one.start()
    first, second = told.get(timeout=600), told.get(timeout=600)
    for one in both:
        one.join(60)
    assert first == second, "both know the same winner"
    assert {"ann won", "bob won"} >= set(first)
    inbox = Inbox(out_dir)
    for number in (0, 1, rounds - 1):
        who = inbox.answered(f"S{number}-1")
        assert who is not None
        assert f"{who[0]} won" == first[number]
        assert began <= ms_of(who[1]) <= time.time_ns() // 1_000_000


def test_of_two_who_answer_at_once_in_hundreds_of_rounds_one_counts_and_the_other_is_told_who(tmp_path: Path) -> None:
    both_answer(tmp_path, 300)


def test_what_answered_nothing_and_a_file_that_is_no_letter_leave_their_question_to_others(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    assert inbox.drop(Letter(kind="answer", subject="Q1", answer="stop", actor="ann"))
    inbox.put_away(inbox.collect(), ["answer-Q1.json"])
    assert inbox.answered("Q1") is None
    assert inbox.drop(Letter(kind="answer", subject="Q1", answer="approve", actor="bob"))
    inbox.put_away(inbox.collect())
    assert (inbox.answered("Q1") or ("", ""))[0] == "bob"
    assert not inbox.drop(Letter(kind="answer", subject="Q1", answer="approve", actor="ann"))
    (inbox.path / "answer-Q2.json").write_text("[1]")
    assert inbox.answered("Q2") is None
