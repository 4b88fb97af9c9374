"""The faults that a model service and a model can have, and the reason that each must end in, for every agent."""

from dataclasses import dataclass

from santiago.contract.reasons import Reason
from tests.agents.script import Acts, Call, Fault, Say, Shell, Write

WORK: Acts = (Write("new.txt", "new\n"), Say("Done."))
WAIT = 900
"""Seconds that a rate limit with a reset time names: longer than any test, so that waiting for it would show."""


@dataclass(frozen=True)
class Case:
    """One fault, and what it looks like from outside."""

    name: str
    happens: str
    fault: Fault | None = None
    script: Acts = WORK
    lasts: bool = False
    """The agent does not end by itself, so its attempt gets little time."""


CASES = (
    Case("fine", "nothing is wrong"),
    Case("401", "the key is refused", Fault(status=401)),
    Case("403", "the account may not do this", Fault(status=403)),
    Case("402", "the account has no money", Fault(status=402)),
    Case("404", "the model does not exist", Fault(status=404)),
    Case("400", "the prompt is too long", Fault(status=400)),
    Case("429 until", f"rate limit, over in {WAIT} s", Fault(status=429, wait=WAIT), lasts=True),
    Case("429", "rate limit, no time named", Fault(status=429)),
    Case("429 twice", "rate limit twice, then fine", Fault(status=429, times=2)),
    Case("500", "the server fails", Fault(status=500)),
    Case("500 once", "the server fails once", Fault(status=500, times=1)),
    Case("529", "the server is overloaded", Fault(status=529)),
    Case("slow", "an answer in slow pieces", Fault(way="slow")),
    Case("stall", "silence after the first piece", Fault(way="stall"), lasts=True),
    Case("cut", "every stream is cut", Fault(way="cut")),
    Case("cut once", "one stream is cut", Fault(way="cut", times=1)),
    Case("cut late", "every stream is cut once the work is half done", Fault(way="cut", at=1)),
    Case("html", "a web page instead of an answer", Fault(way="html")),
    Case("empty", "an empty answer", script=(Say(""),)),
    Case("unknown tool", "a tool that is not there, then the work", script=(Call("no_such_tool"), *WORK)),
    Case("token limit", "an answer cut at the token limit", script=(Say("I was about to", ends="limit"),)),
    Case("refusal", "the model refuses", script=(Say("I cannot help with that.", ends="refusal"),)),
    Case("question", "the model asks", script=(Say("SANTIAGO_QUESTION: Tabs or spaces?"),)),
    Case("endless", "tool calls without end", script=(Shell("true"),), lasts=True),
)

AGENTS = ("claude", "codex", "opencode", "gemini", "claude-acp", "gemini-acp")
_OK, _LOGIN, _MODEL, _LONG = (
    None,
    Reason.AGENT_NOT_SIGNED_IN,
    Reason.AGENT_MODEL_NOT_FOUND,
    Reason.AGENT_CONTEXT_TOO_LONG,
)
_LIMIT, _AWAY, _TIME = Reason.AGENT_RATE_LIMITED, Reason.AGENT_UNAVAILABLE, Reason.AGENT_TIMEOUT
_NOTHING, _ERROR, _REFUSED, _ASKED = (
    Reason.AGENT_NO_CHANGE,
    Reason.AGENT_EXIT_NONZERO,
    Reason.AGENT_REFUSED,
    Reason.AGENT_ASKED,
)
_TABLE: dict[str, tuple[Reason | None, ...]] = {
    #               claude    codex     opencode  gemini    by ACP:
    #                                                   claude    gemini
    "fine":         (_OK,      _OK,      _OK,      _OK,      _OK,      _OK),
    "401":          (_LOGIN,   _LOGIN,   _LOGIN,   _LOGIN,   _LOGIN,   _LOGIN),
    "403":          (_LOGIN,   _LOGIN,   _LOGIN,   _LOGIN,   _LOGIN,   _LOGIN),
    "402":          (_LOGIN,   _LOGIN,   _LOGIN,   _LOGIN,   _LOGIN,   _LOGIN),
    "404":          (_MODEL,   _MODEL,   _MODEL,   _MODEL,   _MODEL,   _MODEL),
    "400":          (_LONG,    _LONG,    _LONG,    _LONG,    _LONG,    _LONG),
    "429 until":    (_LIMIT,   _LIMIT,   _LIMIT,   _LIMIT,   _LIMIT,   _LIMIT),
    "429":          (_LIMIT,   _LIMIT,   _LIMIT,   _LIMIT,   _LIMIT,   _LIMIT),
    "429 twice":    (_LIMIT,   _LIMIT,   _OK,      _LIMIT,   _LIMIT,   _LIMIT),
    "500":          (_AWAY,    _AWAY,    _AWAY,    _AWAY,    _AWAY,    _AWAY),
    "500 once":     (_OK,      _OK,      _OK,      _OK,      _OK,      _OK),
    "529":          (_AWAY,    _AWAY,    _AWAY,    _AWAY,    _AWAY,    _AWAY),
    "slow":         (_OK,      _OK,      _OK,      _OK,      _OK,      _OK),
    "stall":        (_TIME,    _TIME,    _TIME,    _TIME,    _TIME,    _TIME),
    "cut":          (_AWAY,    _AWAY,    _AWAY,    _AWAY,    _AWAY,    _AWAY),
    "cut once":     (_OK,      _OK,      _OK,      _AWAY,    _OK,      _AWAY),
    "cut late":     (_AWAY,    _AWAY,    _AWAY,    _AWAY,    _AWAY,    _AWAY),
    "html":         (_AWAY,    _AWAY,    _AWAY,    _AWAY,    _AWAY,    _AWAY),
    "empty":        (_NOTHING, _NOTHING, _NOTHING, _ERROR,   _NOTHING, _NOTHING),
    "unknown tool": (_OK,      _OK,      _OK,      _OK,      _OK,      _OK),
    "token limit":  (_ERROR,   _ERROR,   _NOTHING, _NOTHING, _ERROR,   _NOTHING),
    "refusal":      (_REFUSED, _REFUSED, _REFUSED, _NOTHING, _REFUSED, _NOTHING),
    "question":     (_ASKED,   _ASKED,   _ASKED,   _ASKED,   _ASKED,   _ASKED),
    "endless":      (_TIME,    _TIME,    _TIME,    _NOTHING, _TIME,    _ERROR),
}  # fmt: skip

TABLE = {agent: {case: row[column] for case, row in _TABLE.items()} for column, agent in enumerate(AGENTS)}
"""For each agent the reason that a fault ends in; None where the work gets done all the same."""

OF_PROTOCOL: dict[str, tuple[str, Reason | None]] = {
    "rate limit": ("the turn ends with an error of this kind", _LIMIT),
    "not signed in": ("no session is given", _LOGIN),
    "refusal": ("the turn ends with a refusal", _REFUSED),
    "question": ("a form for a person", _ASKED),
    "dies": ("the agent ends in the middle of the turn", _ERROR),
    "silence": ("nothing comes until time is up", _TIME),
    "garbage": ("lines that are no messages, then the work", _OK),
    "flood": ("hundreds of messages, then the work", _OK),
}
"""Faults of an agent that speaks ACP: what happens, and the reason that each must end in."""


def sample(agent: str) -> tuple[Case, ...]:
    """Return the first case of each reason that an agent's faults end in."""
    first = {reason: case for case, reason in reversed(TABLE[agent].items())}
    return tuple(case for case in CASES if case.name in first.values())


FREE = frozenset({_LOGIN, _MODEL, _LIMIT, _AWAY, _ASKED})
"""The reasons that spend no attempt: what happened says nothing about the work."""
TELLS_WHEN = frozenset({"claude", "opencode", "gemini", "gemini-acp"})
"""The agents that hand on when a rate limit ends."""
