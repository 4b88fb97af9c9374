"""Lines 65 and 66: which chunks a text means, and what of a run cannot be selected."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from santiago.contract.errors import SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.contract.state import RunState, initial
from santiago.executor.selection import LONGEST, chunks_named, needed, quoted, selected
from tests.contract.histories import plan_of
from tests.util.each import each

LABELS = ("C01-login", "C02 token", "C03", "C04_migrate", "C05,worker", "C06", "it's done")


def named(text: str, labels: tuple[str, ...] = LABELS) -> list[int]:
    return [labels.index(one) + 1 for one in chunks_named(text, labels)]


def refusal(text: str, labels: tuple[str, ...] = LABELS) -> str:
    with pytest.raises(SantiagoError) as caught:
        chunks_named(text, labels)
    return f"{caught.value.message}. {caught.value.hint}"


@each(
    ("texts", "meant"),
    [
        (["4", "#4"], [4]),
        (["4-6", "6-4", "4..6", " 6 .. 4 "], [4, 5, 6]),
        (["4,6"], [4, 6]),
        (["6, 1-2, 2"], [1, 2, 6]),
        (["C03"], [3]),
        (["C01-login", "c01"], [1]),
        (["C01-login..C03", "C03-C01-login", '"C01-login".."C03"', "C01-C03"], [1, 2, 3]),
        (["'C02 token'-C04", "2-C04_migrate"], [2, 3, 4]),
        (["C02 token"], [2]),
        (["C05,worker"], [5]),
        (['1,"C05,worker"'], [1, 5]),
        (['"it\'s done"', "it's done"], [7]),
    ],
)
def test_line_66_ranges_lists_numbers_and_labels_are_read(texts: list[str], meant: list[int]) -> None:
    assert [named(text) for text in texts] == [meant] * len(texts)


@each(
    ("text", "labels", "readings"),
    [
        ("4-6", ("a", "b", "c", "4-6", "e", "f"), ("the chunk labelled '4-6'", "chunks 4 to 6", '"4-6"', "#4..#6")),
        ("2", ("a", "b", "2"), ("the chunk labelled '2'", "chunk 2 (b)", '"2"', "#2")),
        ("a-b", ("a", "a-b", "b"), ("the chunk labelled 'a-b'", "chunks 1 to 3", '"a-b"')),
        ("Ph", ("Phase 1", "Phase 2"), ("chunk 1 (Phase 1)", "chunk 2 (Phase 2)", "#1", "#2")),
        ("1,2", ("x", "y", "1,2"), ("the chunk labelled '1,2'", "chunks 1 to 2", '"1,2"')),
    ],
)
def test_line_66_where_a_text_may_mean_two_things_both_are_named_and_what_is_offered_is_unambiguous(
    text: str, labels: tuple[str, ...], readings: tuple[str, ...]
) -> None:
    told = refusal(text, labels)
    assert "may mean" in told
    for reading in readings:
        assert reading in told
    if text == "4-6":
        assert [named(one, labels) for one in ('"4-6"', "#4..#6", "4..6")] == [[4], [4, 5, 6], [4, 5, 6]]


@each(
    ("text", "told"),
    [
        ("9", "there is no chunk 9. There are 1"),
        ("4-9", "there is no chunk 9"),
        ("0", "there is no chunk 0"),
        ("nonsense", "there is no chunk 'nonsense'"),
        ('"C0"', "there is no chunk"),
        ("", "no chunk is named"),
        ("4,,6", "a comma has nothing beside it"),
        ("4-", "there is no chunk"),
        ("x" * (LONGEST + 1), "are the most"),
    ],
)
def test_line_65_text_that_names_no_chunk_is_refused_in_one_sentence(text: str, told: str) -> None:
    assert told in refusal(text)


LABEL = st.text(min_size=1, max_size=8).filter(lambda text: text == text.strip() and '"' not in text)


@given(st.lists(LABEL, min_size=1, max_size=6, unique=True), st.data())
def test_line_66_a_quoted_label_always_means_its_chunk(labels: list[str], data: st.DataObject) -> None:
    label = data.draw(st.sampled_from(labels))
    assert chunks_named(quoted(label), labels) == (label,)


@given(st.text(max_size=40))
def test_line_65_any_text_is_read_or_refused(text: str) -> None:
    with suppress(SantiagoError):
        assert set(chunks_named(text, LABELS)) <= set(LABELS)


@pytest.fixture
def state() -> RunState:
    """A run of five chunks: one completed, one failed, two to come, one left out."""
    state = initial(plan_of(S1="C01:", S2="C02:", S3="C03:", S4="C04:", S5="C05:"))
    state.stories["S1"].phase, state.chunks["C01"].left = StoryPhase.DONE, 0
    state.stories["S2"].attempts = 3
    state.stories["S5"].skipped, state.chunks["C05"].left = True, 0
    return state


def test_line_65_the_preview_names_chunks_and_stories(state: RunState) -> None:
    assert selected(state, "2-4").sentence == "will run 3 chunks, 3 stories (1 attempted before): C02, C03, C04"
    assert selected(state, "C02").sentence == "will run 1 chunk, 1 story (1 attempted before): C02"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1", "chunk 1 (C01) is completed"),
        ("1-3", "chunk 1 (C01) is completed. 2-3 would run."),
        ("1,4", "chunk 1 (C01) is completed. 2-4 would run."),
        ("4-5", "chunk 5 (C05) is left out. 2-4 would run."),
        ("5", "chunk 5 (C05) is left out"),
        ("2-5", "chunk 5 (C05) is left out. 2-4 would run."),
        ("3", "chunk 3 (C03) comes after 2 (C02), which is not finished. Select 2-3."),
        ("2,4", "chunk 4 (C04) comes after 3 (C03), which is not finished. Select 2-4."),
    ],
)
def test_line_65_what_cannot_run_is_refused_with_what_can(state: RunState, text: str, told: str) -> None:
    with pytest.raises(SantiagoError) as caught:
        selected(state, text)
    assert told in f"{caught.value.message}. {caught.value.hint}"


def test_what_stories_wait_for_is_all_before_them_that_is_not_done_and_nothing_else() -> None:
    """`--only S3` offers what S3 waits for: declared, and every chunk before its own."""
    state = initial(plan_of(S1="", S2="S1", S3="S2", S4="", S5="C02:S4"))
    assert needed(state, ["S3"]) == ["S1", "S2", "S3"]
    assert needed(state, ["S5"]) == ["S1", "S2", "S3", "S4", "S5"]
    for name in ("S1", "S4"):
        state.stories[name].phase = StoryPhase.DONE
    assert needed(state, ["S3", "S4"]) == ["S2", "S3"]
    assert needed(state, ["S4"]) == []
