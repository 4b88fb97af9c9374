"""Only plain consent approves, and only where plain consent is enough; everything else is said back or refused."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from santiago.contract.answers import APPROVING, CONSENT, KINDS, Understood, describe, understood
from santiago.contract.errors import Kind, SantiagoError
from tests.util.each import each

NONE = None
"""Refused."""

MEANT: list[tuple[str, str, tuple[str, str] | None]] = [
    # Plain consent, where it is enough.
    ("detail", "ok", ("approve", "")), ("detail", "OK", ("approve", "")), ("detail", "Ok.", ("approve", "")),
    ("detail", "ok!", ("approve", "")), ("detail", "ok!!", ("approve", "")), ("detail", "  ok  ", ("approve", "")),
    ("detail", "yes", ("approve", "")), ("detail", "looks good", ("approve", "")),
    ("detail", "Looks   Good !", ("approve", "")), ("detail", "looks\tgood", ("approve", "")),
    ("detail", "proceed", ("approve", "")), ("detail", "go ahead", ("approve", "")), ("detail", "GO AHEAD.", ("approve", "")),
    ("result", "ok", ("validate", "")), ("result", "Yes!", ("validate", "")), ("result", "looks good", ("validate", "")),
    ("continue", "ok", ("continue", "")), ("continue", "go ahead", ("continue", "")), ("continue", "Proceed.", ("continue", "")),
    # Consent with more to it is something else.
    ("detail", "ok but in Euros", ("adjust", "ok but in Euros")), ("detail", "yes?", ("adjust", "yes?")),
    ("detail", "okay not yet", ("adjust", "okay not yet")), ("detail", "sure", ("adjust", "sure")),
    ("detail", "okay", ("adjust", "okay")), ("detail", "ok...", ("adjust", "ok...")), ("detail", "ok, go ahead", ("adjust", "ok, go ahead")),
    ("detail", "not ok", ("adjust", "not ok")), ("detail", "yes\u200b", ("adjust", "yes\u200b")), ("detail", "y", ("adjust", "y")),
    ("detail", "oκ", ("adjust", "oκ")), ("detail", "in Euros", ("adjust", "in Euros")), ("detail", "looksgood", ("adjust", "looksgood")),
    ("result", "yes, but smaller", ("change", "yes, but smaller")), ("result", "sure", ("change", "sure")),
    ("continue", "ok but later", NONE), ("continue", "yes?", NONE), ("continue", "sure", NONE),
    # An agent hears what is said.
    ("agent", "ok", ("adjust", "ok")), ("agent", "yes", ("adjust", "yes")), ("agent", "Looks good!", ("adjust", "Looks good!")),
    ("agent", "Euros, please", ("adjust", "Euros, please")), ("agent", "defer", ("defer", "")), ("agent", "approve", NONE),
    # Everything else needs its own word.
    ("doubt", "ok", NONE), ("doubt", "yes", NONE), ("doubt", "accept", ("accept", "")), ("doubt", "ACCEPT", ("accept", "")),
    ("doubt", "approve", NONE), ("doubt", "accept it", NONE), ("doubt", "refuse", ("refuse", "")),
    ("changed_expectation", "looks good", NONE), ("changed_expectation", "refuse", ("refuse", "")),
    ("refusal", "go ahead", NONE), ("refusal", "accept", ("accept", "")), ("refusal", "defer", ("defer", "")),
    ("grant", "yes", NONE), ("grant", "grant", ("grant", "")), ("grant", "refuse", ("refuse", "")),
    ("plan", "ok", NONE), ("plan", "approve", ("approve", "")), ("plan", "cancel", ("cancel", "")), ("plan", "proceed", NONE),
    ("import", "ok", NONE), ("import", "approve", ("approve", "")), ("pick", "ok", NONE), ("pick", "2", NONE),
    ("resume", "ok", NONE), ("resume", "complete", ("complete", "")), ("resume", "continue", ("continue", "")),
    # Words of other kinds, slips, and nothing at all.
    ("detail", "validate", NONE), ("detail", "continue", NONE), ("result", "approve", NONE), ("continue", "approve", NONE),
    ("detail", "aprove", NONE), ("detail", "approve.", NONE), ("detail", "approved", NONE), ("agent", "defr", NONE),
    ("result", "validte", NONE), ("detail", "", NONE), ("detail", " \t ", NONE), ("agent", "", NONE), ("doubt", "", NONE),
    ("detail", "adjust", NONE), ("result", "change", NONE), ("agent", "adjust", NONE), ("plan", "adjust", NONE),
    ("plan", "edit", NONE), ("pick", "pick", NONE), ("nonsense", "ok", NONE), ("nonsense", "approve", NONE),
]  # fmt: skip


@each(("kind", "said", "meant"), MEANT)
def test_every_phrase_means_what_it_says_to_its_question(kind: str, said: str, meant: tuple[str, str] | None) -> None:
    if meant is None:
        with pytest.raises(SantiagoError) as refused:
            understood(kind, said)
        assert refused.value.kind is Kind.USAGE
    else:
        assert understood(kind, said) == Understood(word=meant[0], text=meant[1])


@each("kind", KINDS)
def test_every_word_of_a_kind_is_taken_with_what_is_said_beside_it_and_a_refusal_names_them_all(kind: str) -> None:
    other = next(word for word in ("validate", "grant") if word not in KINDS[kind])
    with pytest.raises(SantiagoError) as refused:
        understood(kind, other)
    for word, means in KINDS[kind].items():
        assert understood(kind, f" {word.upper()} ", " in Euros ") == Understood(word=word, text="in Euros")
        assert word in refused.value.message
        assert means in refused.value.hint


def test_consent_with_a_text_beside_it_is_an_adjustment_and_a_word_without_its_text_or_a_slip_is_named() -> None:
    assert understood("detail", "ok", "in Euros") == Understood(word="adjust", text="ok in Euros")
    for kind, said, text, words in (
        ("continue", "ok", "but later", "takes continue or stop"),
        ("detail", "adjust", "  ", "say what should be different"),
        ("result", "change", "  ", "say what should be different"),
        ("detail", "aprove", "", "'aprove' is none of the answers; did you mean 'approve'"),
    ):
        with pytest.raises(SantiagoError, match=words):
            understood(kind, said, text)


def test_an_answer_is_shown_on_one_line_that_does_nothing() -> None:
    assert describe(Understood(word="approve")) == "approve"
    assert describe(Understood(word="adjust", text="in\nEuros\x1b]8;;x\x07 \u202eplease")) == (
        'adjust "in Euros ]8;;x please"'
    )


@given(
    st.sampled_from(sorted(KINDS)),
    st.one_of(
        st.text(max_size=30),
        st.builds(
            "{}{}{}".format,
            st.text(max_size=3),
            st.sampled_from([*sorted(CONSENT), *APPROVING.values()]),
            st.text(max_size=3),
        ),
    ),
)
@example("detail", "ok but in Euros")
@example("detail", "o k")
def test_nothing_but_the_listed_words_approves(kind: str, said: str) -> None:
    yes = {"detail": {"approve"}, "result": {"validate"}, "continue": {"continue"}}
    own = {"doubt": "accept", "changed_expectation": "accept", "refusal": "accept", "grant": "grant", "plan": "approve",
           "import": "approve", "resume": "complete"}  # fmt: skip
    try:
        word = understood(kind, said).word
    except SantiagoError:
        return
    letters = " ".join(said.strip().lower().split())
    if word in yes.get(kind, set()):
        assert letters == word or letters.rstrip("!.").rstrip() in {"ok", "yes", "looks good", "proceed", "go ahead"}
    elif word == own.get(kind):
        assert letters == word
