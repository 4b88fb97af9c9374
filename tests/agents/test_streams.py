"""What real agents printed is understood: how they ended, what they used, what they did.

The streams were captured from thirteen programs and are read where they lie.
"""

import json

import pytest

from santiago.agent.stream import StreamReader
from santiago.contract.reasons import Reason
from tests.agents.streams import (
    DONE,
    EXPECTED,
    FAILED,
    GOOD,
    PLAN,
    REPORTS,
    captured,
    ending,
    needs_streams,
    profile_of,
    read,
    tags,
)

pytestmark = needs_streams


def test_every_captured_case_is_in_the_table() -> None:
    assert sorted(tags()) == sorted(EXPECTED)


@pytest.mark.parametrize("order", [("out", "err"), ("err", "out")], ids=["out-err", "err-out"])
@pytest.mark.parametrize("tag", sorted(EXPECTED))
def test_a_captured_stream_is_understood(tag: str, order: tuple[str, str]) -> None:
    seen, text, profile, left = EXPECTED[tag], captured(tag, order), profile_of(tag), REPORTS.get(tag)
    end = ending(profile, text, tags()[tag], left)
    reading = read(profile, text.splitlines(keepends=True), left)
    assert (end.reason, end.usage.tokens, end.usage.cost_usd, end.session) == (
        seen.reason,
        seen.tokens,
        seen.cost,
        seen.session,
    )
    assert seen.says in end.message
    assert end.wait_seconds == seen.wait
    assert (len(reading.actions), str(reading.actions[-1]) if reading.actions else "") == (seen.actions, seen.last)
    assert [(todo.text, todo.done, todo.active) for todo in reading.todos.values()] == [
        (text, True, False) for text in seen.todos
    ]
    assert end.denials == ()


@pytest.mark.parametrize("tag", [tag for tag in GOOD if EXPECTED[tag].todos])
def test_the_to_do_list_is_there_while_the_agent_works(tag: str) -> None:
    reader, states = StreamReader(profile_of(tag)), []
    for line in captured(tag).splitlines(keepends=True):
        reader.feed(line)
        states.append([(todo.text, todo.done) for todo in reader.reading.todos.values()])
    begun = [state for state in states if len(state) == len(PLAN) and not all(done for _, done in state)]
    assert begun
    assert [text for text, _ in begun[0]] == list(PLAN)


@pytest.mark.parametrize("tag", GOOD)
def test_a_stream_that_was_cut_before_its_end_is_no_success(tag: str) -> None:
    profile, lines = profile_of(tag), captured(tag, ("err", "out")).splitlines(keepends=True)
    whole = next(n for n in range(len(lines) + 1) if n == len(lines) or read(profile, lines[: n + 1]).ends == "ok")
    for kept in range(whole):
        assert ending(profile, "".join(lines[:kept])).reason is not None


@pytest.mark.parametrize("tag", FAILED)
def test_no_exit_code_makes_a_failed_stream_good(tag: str) -> None:
    for code in (0, 1, 53, 145):
        assert ending(profile_of(tag), captured(tag), code, REPORTS.get(tag)).reason == EXPECTED[tag].reason


@pytest.mark.parametrize("tag", GOOD)
def test_a_good_stream_does_not_excuse_an_exit_code(tag: str) -> None:
    assert ending(profile_of(tag), captured(tag), 1, REPORTS.get(tag)).reason is Reason.AGENT_EXIT_NONZERO


ECHOES = (
    "Error: 429 rate limit exceeded",
    "HTTP 401 Unauthorized",
    "error: failed to run prompt: provider.auth_error: 401 invalid api key",
    "Ran into this error: Rate limit exceeded: rate limit exceeded.",
    "Claude AI usage limit reached|1731200400",
    "Please run /login",
    "[API Error: 401 invalid api key]",
    "litellm.RateLimitError: RateLimitError: OpenAIException - rate limit exceeded",
    "Error when talking to Gemini API",
    "unexpected status 401 Unauthorized: invalid api key",
    "The API provider has rate limited you. Try again later or check your quotas.",
    '{"type":"result","subtype":"success","is_error":true,"result":"usage limit reached"}',
    '{"type":"error","error":{"name":"APIError","data":{"message":"rate limit exceeded","statusCode":429}}}',
    '{"type":"turn.failed","error":{"message":"429 Too Many Requests"}}',
)
SPOKEN = (
    "I will look first.",
    DONE,
    " M hello.py\\n?? NOTES.md",
    "M hello.py\\n?? NOTES.md",
    'def greet():\\n    return \\"hello\\"',
)
"""What the model or a tool said in the captured streams, as JSON spells it."""


@pytest.mark.parametrize("tag", [tag for tag in GOOD if tag not in ("aider.success", "mini.success")])
def test_errors_that_a_model_or_a_tool_only_speaks_of_leave_a_good_ending_good(tag: str) -> None:
    text, profile = captured(tag), profile_of(tag)
    for echo in (*ECHOES, "\n".join(ECHOES)):
        spelled = json.dumps(echo)[1:-1]
        changed = text
        for spoken in SPOKEN:
            changed = changed.replace(spoken, spelled)
        assert changed != text
        end = ending(profile, changed, 0, REPORTS.get(tag))
        assert (end.reason, end.usage.tokens) == (None, EXPECTED[tag].tokens), echo


@pytest.mark.parametrize("tag", ["aider.success", "mini.success"])
@pytest.mark.parametrize("echo", ECHOES)
def test_errors_in_the_words_of_a_model_leave_plain_text_good(tag: str, echo: str) -> None:
    place = {"aider.success": "hello.py\n```python\n", "mini.success": "Finishing.\n"}[tag]
    text = captured(tag).replace(place, f"It says:\n{echo}\n{place}")
    assert echo in text
    assert ending(profile_of(tag), text, 0, REPORTS.get(tag)).reason is None
