"""What agents and services say when they refuse: each text has its reason, and the time after which to try again."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from santiago.agent.catalog import Catalog
from santiago.agent.faults import reason_of
from santiago.agent.profile import Profile
from santiago.agent.waits import MOST_WAIT, wait_in
from santiago.contract.reasons import Reason
from tests.agents.streams import ending

NOW = datetime(2026, 4, 29, 14, 30, tzinfo=UTC)
ANY = Profile(name="any")

OUT = Reason.AGENT_NOT_SIGNED_IN
SLOW = Reason.AGENT_RATE_LIMITED
DOWN = Reason.AGENT_UNAVAILABLE
LONG = Reason.AGENT_CONTEXT_TOO_LONG
MODEL = Reason.AGENT_MODEL_NOT_FOUND
NO = Reason.AGENT_REFUSED
ERROR = Reason.AGENT_EXIT_NONZERO


@pytest.fixture(autouse=True)
def at_home_in_new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A time without a zone is one of the place where santiago runs."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


SAID = [
    # agent, status that the stream states, its words, reason, seconds to wait at 14:30 UTC on 29 April 2026
    ("claude", None, "Claude AI usage limit reached|1777476600", SLOW, 3600),
    ("claude", None, "Claude AI usage limit reached|1731200400", SLOW, 0),
    ("claude", None, "5-hour limit reached ∙ resets 3pm", SLOW, 4 * 3600 + 1800),
    ("claude", 429, "You've hit your limit · resets 10pm (Europe/Paris)", SLOW, 5 * 3600 + 1800),
    ("claude", 429, "You've hit your limit · resets 1:30am (Asia/Dhaka)", SLOW, 5 * 3600),
    ("claude", 429, "You've hit your limit · resets 8pm (Australia/Sydney)", SLOW, 19 * 3600 + 1800),
    ("claude", 429, "You've hit your limit · resets May 5 at 9pm (America/New_York)", SLOW, 6 * 86400 + 10 * 3600 + 1800),
    ("claude", None, "You’ve hit your limit for Claude messages. Limits will reset at 9:30 AM.", SLOW, 23 * 3600),
    ("claude", None, "Weekly limit reached ∙ resets Oct 9, 5pm", SLOW, None),
    ("claude", None, "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing", OUT, None),
    ("claude", 401, 'API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}', OUT, None),
    ("claude", None, "Invalid API key · Please run /login", OUT, None),
    ("claude", 401, "OAuth token has expired. Please obtain a new token or refresh your existing token. · Please run /login", OUT, None),
    ("claude", None, "This organization has been disabled.", OUT, None),
    ("claude", 529, 'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', DOWN, None),
    ("claude", 500, 'API Error: 500 {"type":"error","error":{"type":"api_error","message":"Internal server error"}}', DOWN, None),
    ("claude", 429, 'Error: 429 {"error":{"type":"rate_limit_error","message":"This request would exceed your rate limit. Try again later."}}', SLOW, None),
    ("claude", 400, "Prompt is too long", LONG, None),
    ("claude", 404, 'API Error: 404 {"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}', MODEL, None),
    ("claude", None, "API Error: Connection error.", DOWN, None),
    ("claude", None, "API Error (Request timed out.) · Retrying in 1 seconds… (attempt 1/10)", DOWN, 1),
    ("claude", None, "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy", NO, None),
    ("claude", None, "error_max_turns", ERROR, None),
    ("claude", None, "error_max_budget_usd", Reason.COST_BUDGET_EXHAUSTED, None),
    ("codex", None, "You've hit your usage limit. Upgrade to Pro (https://x) or try again in 3 days 2 hours 5 minutes.", SLOW, 3 * 86400 + 2 * 3600 + 300),
    ("codex", None, "You've hit your usage limit. Upgrade to Plus, or try again at May 1st, 2026 8:19 PM.", SLOW, 2 * 86400 + 9 * 3600 + 49 * 60),
    ("codex", None, "You've hit your usage limit. Try again at 3:45 PM.", SLOW, 5 * 3600 + 900),
    ("codex", None, "stream disconnected: Rate limit reached for gpt-5 on tokens per min: Please try again in 1.5s. Visit https://x/billing.", SLOW, 2),
    ("codex", None, "Rate limit reached for gpt-5. Please try again in 628ms.", SLOW, 1),
    ("codex", None, "exceeded retry limit, last status: 429 Too Many Requests", SLOW, None),
    ("codex", None, "unexpected status 401 Unauthorized: Missing bearer or basic authentication in header", OUT, None),
    ("codex", None, "unexpected status 403 Forbidden: <html>just a moment</html>", OUT, None),
    ("codex", None, 'unexpected status 429: {"message":"You exceeded your current quota, please check your plan","code":"insufficient_quota"}', OUT, None),
    ("codex", None, "stream disconnected before completion: error decoding response body", DOWN, None),
    ("codex", None, "Your input exceeds the context window of this model. Please adjust your input and try again.", LONG, None),
    ("codex", None, "unexpected status 404 Not Found: The model `gpt-x` does not exist or you do not have access to it.", MODEL, None),
    ("codex", None, "Selected model is at capacity. Please try a different model.", DOWN, None),
    ("codex", None, "Incomplete response returned, reason: max_output_tokens", ERROR, None),
    ("gemini", 429, '{"code":429,"message":"You exceeded your current quota, limit: 500. Please retry in 32.9s.","status":"RESOURCE_EXHAUSTED"}', SLOW, 33),
    ("gemini", None, "You have exhausted your capacity on this model. Your quota will reset after 13h22m.", SLOW, 13 * 3600 + 22 * 60),
    ("gemini", None, '{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","details":[{"retryDelay":"7s"}]}}', SLOW, 7),
    ("gemini", None, '[API Error: {"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}]', DOWN, None),
    ("gemini", None, "Please set an Auth method in your settings.json or specify GEMINI_API_KEY", OUT, None),
    ("gemini", None, '[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]', OUT, None),
    ("gemini", None, "[API Error: The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).]", LONG, None),
    ("gemini", None, "Reached max session turns for this session.", ERROR, None),
    ("opencode", 402, "Insufficient credits. Add more using https://openrouter.ai/settings/credits", OUT, None),
    ("opencode", 429, "Provider returned error", SLOW, None),
    ("opencode", 400, "messages: prompt is too long: 213462 tokens > 200000 maximum", LONG, None),
    ("opencode", None, "Model not found: anthropic/claude-none", MODEL, None),
    ("opencode", None, "Unable to connect. Is the computer able to access the url?", DOWN, None),
    ("qwen", None, "[API Error: 429 Throttling: Requests rate limit exceeded, please try again later]", SLOW, None),
    ("copilot", None, "No authentication information found. Run 'copilot login'", OUT, None),
    ("copilot", 429, "Failed to get response from the AI model; retried 5 times (total retry wait time: 5.44 seconds) Last error: 429", SLOW, None),
    ("kimi", None, "provider.rate_limit: 429 rate limit exceeded", SLOW, None),
    ("kimi", None, "provider.auth_error: 401 invalid api key", OUT, None),
    ("pi", None, 'Codex error: {"error":{"type":"usage_limit_reached","resets_at":1777476600,"resets_in_seconds":3600},"status_code":429}', SLOW, 3600),
    ("goose", None, "No provider configured. Run 'goose configure' first.", OUT, None),
    ("openhands", None, "litellm.BadRequestError: OpenAIException - Error code: 400 - maximum context length is 128000 tokens", LONG, None),
    ("any", None, "Too many tokens, please wait before trying again.", SLOW, None),
    ("any", None, "429 Too Many Requests, retry-after: 17", SLOW, 17),
    ("any", None, "rate limit exceeded, resets at 2026-04-29T15:00:00Z", SLOW, 1800),
    ("any", None, "rate limit exceeded until 2026-04-29 17:00:00 +02:00", SLOW, 1800),
    ("any", None, "connect ECONNREFUSED 127.0.0.1:443 (connection refused)", DOWN, None),
    ("any", None, "getaddrinfo EAI_AGAIN api.example.com", DOWN, None),
    ("any", None, "Unexpected token '<', \"<html>\" is not valid JSON", DOWN, None),
    ("any", None, "The response was filtered: content_filter", NO, None),
    ("any", None, "something else went wrong", None, None),
]  # fmt: skip
"""Texts as agents print them, from captured streams, their sources and reports of their users."""


@pytest.mark.parametrize(
    ("agent", "status", "words", "reason", "seconds"), SAID, ids=[f"{one[0]}: {one[2][:40]}" for one in SAID]
)
def test_what_an_agent_says_when_it_is_refused(
    agent: str, status: int | None, words: str, reason: Reason | None, seconds: int | None
) -> None:
    profile = ANY if agent == "any" else Catalog().get(agent)
    assert reason_of(status, words, profile) is reason
    assert wait_in(words, NOW) == seconds


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("try again in 2 hours and 5 minutes", 7500),
        ("Try again in 45 seconds", 45),
        ("Please wait 30 seconds", 30),
        ("Please wait another 2 minutes.", 120),
        ("retry in 1h2m3s", 3723),
        ("resets in 3 days", 3 * 86400),
        ("available again in 10 min", 600),
        ("Please try again in 6m0s.", 360),
        ('"retryDelay": "1.5s"', 2),
        ('{"retry_after": 12}', 12),
        ("Retry-After: 3", 3),
        ("resets 22:00 (UTC)", 7 * 3600 + 1800),
        ("resets at 14:31 UTC", 60),
        ("resets at 14:29 UTC", 86400 - 60),
        ("resets 12am (UTC)", 9 * 3600 + 1800),
        ("resets 3pm (Mars/Olympus)", 4 * 3600 + 1800),
        ("until 1777476600000", 3600),
    ],
)
def test_times_to_wait_in_their_many_forms(words: str, seconds: int) -> None:
    assert wait_in(words, NOW) == seconds


@pytest.mark.parametrize(
    "words",
    [
        "rate limit exceeded",
        "retried 5 times (total retry wait time: 5.44 seconds)",
        "the request took 30 seconds",
        "limit: 500 requests, used 500",
        "Full report available at: /tmp/error-2026-11-15T02-55-02.json",
        "resets 3",
        "resets 99:99",
        "resets Feb 31 at 9pm",
        "resets in 4000 days",
        "try again at 10 de jul. de 2026, 11:52",
        "resets at 2026-13-45T99:99:99Z",
        "after 3 attempts in 5 files",
    ],
)
def test_words_that_name_no_time_to_wait_for(words: str) -> None:
    assert wait_in(words, NOW) is None


TIMES = st.from_regex(r"(resets?|try again|wait|until|retry).{0,3}(in|at|after).{0,40}", fullmatch=True)


@given(st.text(max_size=300) | TIMES)
def test_any_words_give_a_bounded_wait_or_none(words: str) -> None:
    wait = wait_in(words, NOW)
    assert wait is None or 0 <= wait <= MOST_WAIT
    assert reason_of(None, words, ANY) in (None, *Reason)


@pytest.mark.parametrize(
    "piece", ["resets ", "1h ", "model ", "try again in 1", "a" * 40, "stream ", "429 ", "until 1 "]
)
def test_long_words_take_no_pattern_back_and_forth(piece: str) -> None:
    """A pattern that tries every way would not end here."""
    assert wait_in(piece * 20_000, NOW) is None
    assert reason_of(None, (piece * 20_000)[:20_000], ANY) in (None, *Reason)


LITELLM = "litellm.RateLimitError: RateLimitError: OpenAIException - rate limit exceeded"
RETRIES = {
    "claude": '{"type":"system","subtype":"api_retry","attempt":3,"error_status":429,"error":"rate_limit"}',
    "codex": '{"type":"error","message":"Reconnecting... 2/5 (exceeded retry limit, last status: 429 Too Many Requests)"}',
    "gemini": 'Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {"error":{"code":429}}',
    "aider": LITELLM,
    "mini-swe-agent": f"Retrying <unknown> in 4 seconds as it raised RateLimitError: {LITELLM}.",
    "openhands": f'{{"levelname":"ERROR","filename":"retry_mixin.py","message":"{LITELLM}. Attempt #1 | You can …"}}',
    "kimi": '{"role":"meta","type":"turn.step.retrying","error_message":"429 rate limit exceeded","status_code":429}',
    "copilot": '{"type":"model.call_failure","data":{"statusCode":429,"errorMessage":"{\\"message\\":\\"slow down\\"}"}}',
    "pi": '{"type":"auto_retry_start","attempt":1,"delayMs":2000,"errorMessage":"429 rate limit exceeded"}',
}


@pytest.mark.parametrize("name", RETRIES)
def test_an_agent_that_runs_out_of_time_while_it_is_refused_was_refused(name: str) -> None:
    assert ending(Catalog().get(name), RETRIES[name], 143, timed_out=True).reason is SLOW


WORKS = {
    "claude": '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{}}]}}',
    "codex": '{"type":"item.completed","item":{"type":"agent_message","text":"I will look first."}}',
    "gemini": '{"type":"message","role":"assistant","content":"I will look first.","delta":true}',
    "kimi": '{"role":"assistant","content":"I will look first."}',
    "copilot": '{"type":"assistant.message","data":{"content":"I will look first."}}',
    "pi": '{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"toolUse"}}',
    "openhands": '{"kind":"ActionEvent","source":"agent","tool_name":"terminal","action":{"command":"ls"}}',
    "aider": "Tokens: 1.2k sent, 40 received.",
}


@pytest.mark.parametrize("name", WORKS)
def test_an_agent_that_works_again_after_a_refusal_and_runs_out_of_time_was_slow(name: str) -> None:
    end = ending(Catalog().get(name), f"{RETRIES[name]}\n{WORKS[name]}\n", 143, timed_out=True)
    assert end.reason is Reason.AGENT_TIMEOUT


def test_a_reset_that_was_told_before_the_last_error_is_not_forgotten() -> None:
    limit = (
        '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%d,"rateLimitType":"five_hour"}}'
    )
    last = (
        '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"You\'ve hit your limit"}'
    )
    end = ending(Catalog().get("claude"), f"{limit % (int(time.time()) + 1000)}\n{last}", 1)
    assert end.reason is SLOW
    assert end.wait_seconds is not None
    assert 900 < end.wait_seconds <= 1000


def test_who_is_not_signed_in_hears_how_to() -> None:
    end = ending(Catalog().get("codex"), '{"type":"turn.failed","error":{"message":"401 Unauthorized"}}', 1)
    assert "`codex login`" in end.remedy
