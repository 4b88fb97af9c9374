"""Endings and figures that no captured stream shows: errors with exit code 0, denied tools, totals and sums."""

import json

import pytest

from santiago.agent.catalog import Catalog
from santiago.agent.profile import parse
from santiago.contract.reasons import Reason
from tests.agents.streams import OUT, SLOW, ending, read


def test_figures_of_a_whole_session_are_not_counted_twice() -> None:
    turn = '{"type":"turn.completed","usage":{"input_tokens":%d,"output_tokens":%d}}'
    assert read(Catalog().get("codex"), [turn % (1000, 50), turn % (2500, 90)]).usage(complete=True).tokens == 2590
    result = '{"type":"result","subtype":"success","is_error":false,"total_cost_usd":%s,"usage":{"input_tokens":%d,"output_tokens":1}}'
    used = read(Catalog().get("claude"), [result % ("0.01", 10), result % ("0.03", 30)]).usage(complete=True)
    assert (used.tokens, used.cost_usd) == (31, 30_000)


def test_figures_of_single_steps_are_added_up_each_line_once() -> None:
    step = '{"type":"step_finish","part":{"id":"%s","reason":"tool-calls","tokens":{"input":100,"output":5,"cache":{"read":1,"write":2}},"cost":0.002}}'
    used = read(Catalog().get("opencode"), [step % "a", step % "b", step % "b", step % "c"]).usage(complete=True)
    assert (used.tokens, used.cost_usd) == (324, 6000)


def test_a_sum_with_lines_missing_is_unknown_and_a_total_is_not() -> None:
    step = '{"type":"step_finish","part":{"reason":"stop","tokens":{"input":100}}}'
    assert ending(Catalog().get("opencode"), step, 0, log_dropped=1).usage.tokens is None
    total = '{"type":"turn.completed","usage":{"input_tokens":7,"output_tokens":1}}'
    assert ending(Catalog().get("codex"), total, 0, log_dropped=1).usage.tokens == 8


def test_a_sum_of_a_stream_that_was_cut_short_is_unknown() -> None:
    step = '{"type":"step_finish","part":{"reason":"tool-calls","tokens":{"input":1000,"output":5}}}'
    assert ending(Catalog().get("opencode"), step, 143, timed_out=True).usage.tokens is None


@pytest.mark.parametrize(
    ("cost", "tokens", "known"),
    [
        ("0", 100, None),
        ("0", 0, 0),
        ("0.5", 100, 500_000),
        ("0.0000004", 100, None),
        ("-1", 100, None),
        ("1e300", 1, None),
    ],
)
def test_a_price_of_nothing_for_work_is_unknown(cost: str, tokens: int, known: int | None) -> None:
    line = f'{{"type":"result","total_cost_usd":{cost},"usage":{{"input_tokens":{tokens}}}}}'
    used = read(Catalog().get("claude"), [line]).usage(complete=True)
    assert (used.tokens, used.cost_usd) == (tokens, known)


@pytest.mark.parametrize(
    "figure", ["-5", "1e999", "NaN", "true", "null", '"many"', "[1]", '{"a":1}', "9" * 400, '"-1"', '"1.2.3k"']
)
def test_what_is_no_figure_is_unknown(figure: str) -> None:
    used = read(Catalog().get("claude"), [f'{{"type":"result","usage":{{"input_tokens":{figure}}}}}']).usage(
        complete=True
    )
    assert used.tokens is None


def test_no_tokens_for_tools_that_were_used_is_unknown() -> None:
    profile = parse('name="x"\nstart.argv=["x"]\n[[on]]\ntool="tool"\ntokens=["tokens"]', "x.toml")
    assert read(profile, ['{"tool":"edit","tokens":0}']).usage(complete=True).tokens is None
    assert read(profile, ['{"tokens":0}']).usage(complete=True).tokens == 0


def test_aider_is_read_line_by_line() -> None:
    """Three messages: an error in between, cached tokens, and a price that is the session's."""
    text = """Aider v0.86.2
Tokens: 4.1k sent, 1.2k cache write, 3k cache hit, 120 received.
Cost: $0.01 message, $0.01 session.
Applied edit to hello.py
litellm.RateLimitError: RateLimitError: OpenAIException - rate limit exceeded
The API provider has rate limited you. Try again later or check your quotas.
Retrying in 0.2 seconds...
Tokens: 2k sent, 80 received. Cost: $0.0042 message, $0.0142 session.
"""
    end = ending(Catalog().get("aider"), text)
    assert (end.reason, end.usage.tokens, end.usage.cost_usd) == (None, 6300, 14_200)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("litellm.AuthenticationError: AuthenticationError: OpenAIException - invalid api key", OUT),
        ("litellm.RateLimitError: RateLimitError: OpenAIException - rate limit exceeded", SLOW),
        ("litellm.RateLimitError: OpenAIException - You exceeded your current quota, please check your plan", OUT),
        ("litellm.BadRequestError: OpenAIException - prompt is too long: 250000 tokens > 200000 maximum", Reason.AGENT_CONTEXT_TOO_LONG),
        ("litellm.NotFoundError: NotFoundError: OpenAIException - The model `m` does not exist", Reason.AGENT_MODEL_NOT_FOUND),
        ("litellm.APIError: APIError: OpenAIException - Insufficient credits", OUT),
        ("litellm.InternalServerError: AnthropicException - Overloaded", Reason.AGENT_UNAVAILABLE),
        ("litellm.Timeout: APITimeoutError - Request timed out.", Reason.AGENT_UNAVAILABLE),
        ("Model openai/scripted has hit a token limit!", Reason.AGENT_CONTEXT_TOO_LONG),
        ("litellm.UnsupportedParamsError: openai does not support parameters: ['x']", Reason.AGENT_EXIT_NONZERO),
    ],
)  # fmt: skip
def test_aider_that_ends_with_code_0_after_an_error_has_failed(words: str, reason: Reason) -> None:
    first = "Aider v0.86.2\nTokens: 1.2k sent, 40 received.\nApplied edit to a.py\n"
    for text in (f"Aider v0.86.2\n{words}\n\n", f"{first}{words}\n\n"):
        assert ending(Catalog().get("aider"), text).reason is reason


GOOSE = '{"type":"message","message":{"id":"%s","role":"assistant","content":[{"type":"text","text":%s}],"metadata":{"userVisible":true}}}'
COMPLETE = '{"type":"complete","total_tokens":%d}'


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("Ran into this error: Rate limit exceeded: rate limit exceeded.\n\nPlease retry if you think", SLOW),
        ("Ran into this error: Server error: Server error (500 Internal Server Error) at http://…: x.", Reason.AGENT_UNAVAILABLE),
        ("Ran into this error: Request failed: Resource not found (404) at http://…: The model `m` does not exist.", Reason.AGENT_MODEL_NOT_FOUND),
        ("The model returned an empty response. Please resend your message to continue.", Reason.AGENT_UNAVAILABLE),
        ("I've reached the maximum number of actions I can do without user input. Continue?", Reason.AGENT_EXIT_NONZERO),
    ],
)  # fmt: skip
def test_goose_that_ends_with_code_0_after_an_error_has_failed(words: str, reason: Reason) -> None:
    own = GOOSE % ("msg_49bdc0c9-2fd1-49db-a93c-a3f244789b70", json.dumps(words))
    assert ending(Catalog().get("goose"), f"{own}\n{COMPLETE % 4960}\n").reason is reason
    echoed = GOOSE % ("chatcmpl-b8d169082375425c", json.dumps(words))
    assert ending(Catalog().get("goose"), f"{echoed}\n{COMPLETE % 4960}\n").reason is None


def test_what_mini_swe_agent_leaves_counts_for_more_than_its_text() -> None:
    profile, text = Catalog().get("mini-swe-agent"), "mini-swe-agent (step 1, $0.02):\nSaved trajectory to '/x'\n"
    stopped = {"info": {"exit_status": "LimitsExceeded", "model_stats": {"instance_cost": 0.5}}, "messages": []}
    end = ending(profile, text, 0, stopped)
    assert (end.reason, end.usage.cost_usd) == (Reason.AGENT_EXIT_NONZERO, 500_000)
    words = "litellm.RateLimitError: RateLimitError: OpenAIException - rate limit exceeded"
    failed = {
        "info": {"exit_status": "RateLimitError"},
        "messages": [{"role": "exit", "extra": {"exception_str": words}}],
    }
    assert ending(profile, text, 1, failed).reason is SLOW


SAID = '{"type":"message","role":"assistant","content":[{"type":"text","text":"STATUS: done"}]}'


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ("turn_limit", Reason.AGENT_EXIT_NONZERO),
        ("price_limit", Reason.COST_BUDGET_EXHAUSTED),
        ("aborted", Reason.AGENT_EXIT_NONZERO),
    ],
)
def test_what_vibe_leaves_says_how_it_ended(outcome: str, reason: Reason) -> None:
    assert ending(Catalog().get("vibe"), SAID, 3, {"outcome": outcome}).reason is reason
    assert ending(Catalog().get("vibe"), SAID, 0, {"outcome": outcome}).reason is reason


NOT_ALLOWED = {
    "claude": (
        '{"type":"result","permission_denials":[{"tool_name":"Write"},{"tool_name":"Bash"},{"tool_name":"Bash"}]}',
        ("Write", "Bash"),
    ),
    "qwen": ('{"type":"result","permission_denials":[{"tool_name":"edit"}]}', ("edit",)),
    "opencode": (
        '{"type":"tool_use","part":{"tool":"edit","state":{"status":"error","error":"The user rejected permission to use this"}}}',
        ("edit",),
    ),
    "copilot": (
        '{"type":"tool.execution_complete","data":{"error":{"message":"Permission denied: nobody was there","code":"denied"}}}',
        ("Permission denied: nobody was there",),
    ),
    "vibe": (
        '{"type":"effect","detail":{"toolName":"file_system.bash"},"state":{"decision":"skip"}}',
        ("file_system.bash",),
    ),
}


@pytest.mark.parametrize("name", NOT_ALLOWED)
def test_tools_that_an_agent_was_not_allowed_are_named(name: str) -> None:
    line, denied = NOT_ALLOWED[name]
    assert ending(Catalog().get(name), line).denials == denied


@pytest.mark.parametrize(
    ("says", "code", "reason", "wait"),
    [
        ("working\nError: rate limit exceeded, try again in 20 seconds", 1, SLOW, 20),
        ("HTTP 429 Too Many Requests", 2, SLOW, None),
        ("You've hit your usage limit. Try again in 2 hours", 1, SLOW, 7200),
        ("I wrote a limiter: rate limit exceeded, try again in 20 seconds", 0, None, None),
        ("rate limit exceeded\n" + "the build failed\n" * 6, 1, Reason.AGENT_EXIT_NONZERO, None),
        ("Time limit exceeded", 1, Reason.AGENT_EXIT_NONZERO, None),
        ("connection refused", 1, Reason.AGENT_EXIT_NONZERO, None),
    ],
)
def test_a_rate_limit_of_a_bare_program_is_awaited(
    says: str, code: int, reason: Reason | None, wait: int | None
) -> None:
    """By its last lines and its exit code only; what it used is unknown, and not nothing."""
    found = ending(Catalog().get("command"), says, code)
    assert (found.reason, found.wait_seconds, found.usage.tokens) == (reason, wait, None)


def test_a_bare_program_that_tries_again_until_its_time_is_over_was_limited_too() -> None:
    found = ending(Catalog().get("command"), "rate limited, retrying in 60s", 143, timed_out=True)
    assert (found.reason, found.wait_seconds) == (SLOW, 60)
