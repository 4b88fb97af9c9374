"""Answers from outside: an agent takes any words, the judge takes accept or refuse, and the first answer counts."""

from santiago.contract.answers import Letter, LetterKind
from santiago.contract.events import EventKind, Fact
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.executor.letters import heard
from tests.contract.histories import Journal, plan_of
from tests.util.each import each

K, S = EventKind, StoryPhase


def asked(kind: str) -> Journal:
    """A run whose first story rests with a question."""
    journal = Journal(plan_of(S1="C01:"))
    journal.add(K.RUN_EXECUTING, phase=RunPhase.EXECUTING, head="c0")
    journal.move("S1", S.RUNNING)
    journal.add(K.ATTEMPT_ENDED, "S1", S.READY, status="failed", commit="c1", verdict="fail")
    journal.add(K.QUESTION_ASKED, "S1", question="S1-1", kind=kind, text="Really?", options=["accept", "refuse"])
    journal.add(K.STORY_BLOCKED, "S1", S.BLOCKED, status="blocked", question="S1-1")
    return journal


def answer(journal: Journal, word: str, text: str = "") -> list[Fact]:
    letter = Letter(kind="answer", subject="S1-1", answer=word, text=text, actor="ann", via="page")
    facts = heard([letter], journal.state).facts
    journal.record(facts)
    return facts


def test_accept_takes_the_work_as_it_is_in_the_name_of_who_said_so() -> None:
    journal = asked("doubt")
    facts = answer(journal, "accept", "I read it")
    assert [fact.event for fact in facts] == [
        K.QUESTION_ANSWERED, K.STORY_REOPENED, K.STORY_ACCEPTED, K.STORY_VERIFIED
    ]  # fmt: skip
    assert facts[0].context["via"] == "page", "the log records how an answer came"
    taken = facts[2]
    assert {fact.actor for fact in facts} == {"ann"}
    assert (taken.context["commit"], taken.context["proof"], taken.context["text"]) == ("c1", "attested", "I read it")
    assert (journal["S1"].phase, journal["S1"].attempts) == (S.VERIFIED, 1)


def test_refuse_gives_the_story_back_to_the_agent_with_the_words() -> None:
    journal = asked("changed_expectation")
    answer(journal, "refuse", "Keep the old rounding")
    assert (journal["S1"].phase, journal.state.open_questions()) == (S.READY, [])
    assert any("Keep the old rounding" in note for note in journal["S1"].notes)


@each("word", ["defer", "stop"])
def test_a_question_that_is_put_off_leaves_the_story_where_it_rests(word: str) -> None:
    journal = asked("refusal")
    answer(journal, word)
    assert journal["S1"].phase is S.BLOCKED


@each("word", ["yes", "approve", "ok", ""])
def test_the_judge_takes_no_other_word_and_goes_on_asking(word: str) -> None:
    journal = asked("doubt")
    (note,) = answer(journal, word)
    assert (note.event, "takes accept, refuse" in note.context["message"]) == (K.NOTE, True)
    assert (journal["S1"].phase, len(journal.state.open_questions())) == (S.BLOCKED, 1)


def test_an_agent_takes_any_words_and_consent_is_only_words_to_it() -> None:
    for word in ("blue", "ok"):
        journal = asked("agent")
        assert [fact.event for fact in answer(journal, word)] == [K.QUESTION_ANSWERED, K.STORY_REOPENED]
        assert journal["S1"].phase is S.READY


def test_the_first_answer_counts() -> None:
    journal = asked("doubt")
    answer(journal, "refuse")
    (note,) = answer(journal, "accept")
    assert note.event is K.NOTE
    assert journal["S1"].phase is S.READY


@each("word", ["stop", "approve", ""])
def test_a_letter_that_answers_nothing_leaves_its_question_to_others(word: str) -> None:
    letter = Letter(kind="answer", subject="S1-1", answer=word, actor="ann", name="answer-S1-1.json")
    assert heard([letter], asked("refusal").state).void == ["answer-S1-1.json"]


def test_an_answer_that_is_heard_again_after_a_crash_changes_and_notes_nothing() -> None:
    journal = asked("doubt")
    answer(journal, "accept", "I read it")
    journal.state.questions["S1-1"].actor = "ann"
    assert answer(journal, "Accept", "I read it") == []
    assert [fact.event for fact in answer(journal, "refuse")] == [K.NOTE]


def test_two_letters_about_one_story_are_heard_one_after_the_other() -> None:
    """The second may not fit any more what the first has made of the story; it waits for the next look."""
    journal = asked("doubt")
    letters = [
        Letter(kind="answer", subject="S1-1", answer="refuse", actor="ann", name="answer-S1-1.json"),
        Letter(kind="change", subject="S1", text="shorter", actor="bob", name="change-S1-1.json"),
    ]
    found = heard(letters, journal.state)
    assert found.later == ["change-S1-1.json"]
    journal.record(found.facts)
    journal.record(heard(letters[1:], journal.state).facts)
    assert (journal["S1"].phase, journal["S1"].notes[-1]) == (S.READY, "shorter")


def test_a_change_of_work_that_comes_onto_the_branch_waits_until_that_is_known() -> None:
    letter = Letter(kind="change", subject="S1", text="shorter", actor="bob", name="change-S1-1.json")
    found = heard([letter], asked("doubt").state, {"S1"})
    assert (found.later, found.facts, found.changed) == (["change-S1-1.json"], [], [])


@each(
    ("kinds", "stop"),
    [(("stop-detach",), "detach"), (("stop-detach", "stop"), "soon"), (("stop-now", "stop-detach", "stop"), "now")],
)
def test_of_several_wishes_to_stop_the_strongest_counts(kinds: tuple[LetterKind, ...], stop: str) -> None:
    found = heard([Letter(kind=kind, actor="ann") for kind in kinds], asked("doubt").state)
    assert found.stop == stop
    assert [fact.context["mode"] for fact in found.facts] == list(kinds)
