"""No cut and no noise breaks the reading of a stream, makes a failed ending good, or makes up usage."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from santiago.agent.catalog import Catalog
from santiago.agent.profile import Profile
from santiago.agent.stream import MOST_LINE, MOST_TEXT
from santiago.contract.outcomes import Usage
from santiago.contract.reasons import Reason
from tests.agents.streams import EXPECTED, captured, ending, needs_streams, profile_of

TAGS = st.sampled_from(sorted(EXPECTED))
CLOSING = (
    '{"type":"result","subtype":"success","is_error":false,"result":"fine",'
    '"usage":{"input_tokens":10,"output_tokens":5},"total_cost_usd":0.01}'
)
DEEP = '{"a":' * 50_000
LEAVES = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=9)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=9,
)
ODD = (
    DEEP,
    "{" * 9,
    '{"type":"result"',
    '{"type": {"a": []}}',
    '{"message":{"content":[1,null,"x",{"type":7}]},"type":"assistant"}',
    '{"type":"result","usage":{"input_tokens":-5,"output_tokens":1e999}}',
    '"\\ud800"',
    "\x00\x1b[31m",
    "9" * 5000,
)
NOISE = st.one_of(
    st.binary(max_size=200).map(lambda raw: raw.decode("utf-8", "replace")),
    st.text(max_size=60),
    TREES.map(json.dumps),
    st.sampled_from(ODD),
)


def held(tag: str, text: str, profile: Profile) -> None:
    """Assert what must hold of any damaged form of a captured stream."""
    end, whole = ending(profile, text, 0), EXPECTED[tag]
    if whole.reason:
        assert end.reason is not None, "damage made a failed ending good"
    for figure, most in ((end.usage.tokens, whole.tokens), (end.usage.cost_usd, whole.cost)):
        assert figure is None or 0 <= figure <= (most or 0)
    assert len(end.message) <= MOST_TEXT
    (end.message + (end.session or "")).encode()


@needs_streams
@given(TAGS, st.floats(0, 1), st.booleans())
@settings(max_examples=150)
def test_a_stream_cut_at_any_byte_is_never_better_than_the_whole(tag: str, place: float, reverse: bool) -> None:
    text = captured(tag, ("err", "out") if reverse else ("out", "err")).encode()
    held(tag, text[: int(place * len(text))].decode("utf-8", "replace"), profile_of(tag))


@needs_streams
@given(TAGS, st.data())
@settings(max_examples=150)
def test_a_stream_with_lines_lost_doubled_and_mixed_with_noise_is_never_better(tag: str, data: st.DataObject) -> None:
    profile, lines = profile_of(tag), captured(tag).splitlines(keepends=True)
    doubles = not any(rule.adds and rule.matches for rule in profile.on)  # plain text has nothing to tell a line by
    times = data.draw(st.lists(st.integers(0, 2 if doubles else 1), min_size=len(lines), max_size=len(lines)))
    kept = [line for line, count in zip(lines, times, strict=True) for _ in range(count)]
    for noise in data.draw(st.lists(NOISE, max_size=6)):
        kept.insert(data.draw(st.integers(0, len(kept))), f"{noise}\n")
    held(tag, "".join(kept), profile)


@given(st.sampled_from(Catalog().names()), st.lists(NOISE, max_size=20))
@settings(max_examples=150)
def test_no_noise_breaks_the_reader_of_any_agent(name: str, noise: list[str]) -> None:
    profile = Catalog().get(name)
    end = ending(profile, "\n".join(noise), 0)
    end.message.encode()  # half a character would raise here, and later in every file
    assert len(end.message) <= MOST_TEXT
    document: dict[str, Any] = {"info": noise, "messages": noise, "usage": {"total_tokens": noise}, "outcome": noise}
    ending(profile, "", 0, document)


def test_a_line_of_any_length_is_borne() -> None:
    result = '{"type":"result","subtype":"success","is_error":false,"result":"fine"}'
    long = '{"type":"assistant","message":{"content":[{"type":"text","text":"' + "x" * (MOST_LINE // 4) + '"}]}}'
    end = ending(Catalog().get("claude"), f"{'y' * (MOST_LINE + 5)}\n{long}\n{DEEP}\n{result}\n")
    assert (end.reason, end.message) == (None, "fine")


def test_halves_of_characters_reach_no_file() -> None:
    end = ending(
        Catalog().get("claude"),
        '{"type":"result","subtype":"success","is_error":false,"result":"a\\ud800b","session_id":"\\udfff"}',
    )
    assert (end.message, end.session) == ("a?b", "?")


def test_a_text_that_only_looks_like_json_is_no_way_on() -> None:
    """The arguments of a tool come as a text; what stands in it is anybody's."""
    for arguments in (DEEP, "[" * 100_000, "{", "null", "[1]", "x" * 2_000_000, '{"path":' + "9" * 6000 + "}"):
        call = {"function": {"name": "Read", "arguments": arguments}}
        end = ending(Catalog().get("kimi"), json.dumps({"role": "assistant", "content": "fine", "tool_calls": [call]}))
        assert end.message == "fine"


@pytest.mark.parametrize("before", ["(node:7) Warning: old", "\x1b[0m", "\ufeff", "\0\0 ", "data: ", 'x {"a', "\t"])
def test_a_closing_line_counts_whatever_another_stream_put_before_it(before: str) -> None:
    end = ending(Catalog().get("claude"), f"{before}{CLOSING}\r\n")
    assert (end.reason, end.usage.tokens) == ((None, 15) if '{"' not in before else (Reason.AGENT_UNAVAILABLE, None))


def test_a_text_that_is_set_in_is_no_line_of_the_program() -> None:
    end = ending(Catalog().get("aider"), "Tokens: 2k sent, 20 received.\n    litellm.RateLimitError: wait 5 hours\n")
    assert (end.reason, end.usage.tokens) == (None, 2020)


@pytest.mark.parametrize(("figure", "tokens"), [("-10", None), ('"ten"', None), ("1e308", None), ("null", 5), ("0", 5)])
def test_a_sum_with_something_that_is_no_figure_is_unknown(figure: str, tokens: int | None) -> None:
    line = CLOSING.replace('"input_tokens":10', f'"input_tokens":{figure}')
    assert ending(Catalog().get("claude"), line).usage.tokens == tokens


def test_nothing_used_for_an_answer_is_unknown_and_not_zero() -> None:
    line = CLOSING.replace("10", "0").replace("5", "0").replace("0.01", "0")
    assert ending(Catalog().get("claude"), line).usage == Usage()


def test_a_refusal_after_which_the_agent_goes_on_is_not_how_it_ended() -> None:
    refusal = (
        '{"type":"assistant","message":{"stop_reason":"refusal","content":[{"type":"text","text":"I will not."}]}}'
    )
    tool = '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Edit","input":{"file_path":"a"}}]}}'
    claude = Catalog().get("claude")
    assert ending(claude, f"{tool}\n{refusal}\n{CLOSING}").reason is Reason.AGENT_REFUSED
    assert ending(claude, f"{refusal}\n{tool}\n{CLOSING}").reason is None
