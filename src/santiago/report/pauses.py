"""A wait for the agent's service in words: for what, until when, how long still."""

from __future__ import annotations

from santiago.contract.reasons import Reason
from santiago.report.measures import clock
from santiago.util.clock import between, moment

CALM = "nothing is spent"


def cause(reason: str, agent: str) -> str:
    """Return what is waited for."""
    whose = agent or "the agent"
    return f"the rate limit of {whose}" if reason == Reason.AGENT_RATE_LIMITED else f"the service of {whose}"


def still(time: str, reason: str, agent: str, now: str) -> str:
    """Say how long a wait still lasts."""
    return f"waits for {cause(reason, agent)}: {clock(between(now, time))} left, until {moment(time, now)}"


def told(time: str, reason: str, agent: str, now: str) -> str:
    return f"until {moment(time, now)} for {cause(reason, agent)}; {CALM}; ctrl-c stops"
