"""What attempts that are judged side by side remember for one another."""

from __future__ import annotations

import threading

from santiago.executor.memory import Memory


def test_work_that_asks_whose_it_is_is_heeded_also_while_another_attempt_looks_at_the_base() -> None:
    """Proof, not promise: otherwise one story's result would be taken for another's."""
    memory, asked, answer = Memory(), threading.Event(), threading.Event()

    def mentions() -> bool:
        asked.set()
        answer.wait()
        return False

    looking = threading.Thread(target=memory.look_once, args=(mentions,))
    looking.start()
    asked.wait()
    memory.heed("+os.environ['SANTIAGO_STORY']\n")
    answer.set()
    looking.join()
    assert memory.is_spoken_of


def test_the_base_is_looked_at_once() -> None:
    memory, answers = Memory(), iter([True])
    memory.look_once(lambda: next(answers))
    memory.look_once(lambda: next(answers))
    assert memory.is_spoken_of
