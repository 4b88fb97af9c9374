"""What a refused or failed request means: one table from status codes and usual words to the contract's reasons.

It is used only on what a stream marks as an error. Words of the model or of a tool are never searched.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from santiago.agent.profile import Profile

_STATUS = (
    r"""(?:status(?:\s?code)?|http(?:/\d(?:\.\d)?)?|code|error|rejected)["']?\W{0,4}([45]\d\d)\b"""
    r"|(?:^|[\s(\[:])([45]\d\d)(?=\)|\s*\{|\s+(?:unauthori[sz]ed|forbidden|payment|not found|too many|internal|bad|service"
    r"|gateway|invalid|rate|overloaded|request))"
)

_EMPTY_ACCOUNT = (
    r"credit balance|insufficient[ _](?:quota|credits?|funds|balance)|out of credits",
    r"payment required|exceeded your current quota|billing[ _](?:hard|not|issue|disabled)",
    r"(?:organi[sz]ation|account) (?:has been|is) (?:disabled|suspended|deactivated)",
)
"""The account may not be used, even if the key is valid."""
_WORDS: tuple[tuple[Reason, tuple[str, ...]], ...] = (
    (
        Reason.AGENT_CONTEXT_TOO_LONG,
        (
            r"(?:prompt|input) is too long",
            r"context[ _](?:length|window)|maximum context",
            r"too many (?:input )?tokens(?!.{0,20}wait)",
            r"exceeds? the (?:model'?s? )?(?:context|maximum (?:number of )?tokens)",
            r"request entity too large",
        ),
    ),
    (
        Reason.AGENT_RATE_LIMITED,  # said in so many words, whatever else follows about plans and billing
        (r"resource[ _]exhausted|resource has been exhausted", r"rate limit (?:reached|exceeded) for"),
    ),
    (Reason.AGENT_NOT_SIGNED_IN, _EMPTY_ACCOUNT),
    (
        Reason.AGENT_RATE_LIMITED,
        (
            r"rate[ _-]?limit|too many (?:requests|tokens)|throttl|hit your (?:\w+ )?limit",
            r"(?:usage|session|weekly|hourly|daily) limit|limit (?:reached|exceeded)",
            r"quota (?:exceeded|exhausted|will reset)|exhausted your (?:capacity|quota)",
        ),
    ),
    (
        Reason.AGENT_NOT_SIGNED_IN,
        (
            r"not (?:logged|signed) in|please (?:run|log|sign)\b.{0,20}log ?in|log ?in (?:required|first)",
            r"(?:invalid|incorrect)[ _](?:api|authentication|x-api)[ _-]?key",
            r"api key.{0,30}(?:invalid|incorrect|missing|not (?:set|found|valid)|required|expired)",
            r"(?:no|missing|set an?) (?:api key|auth|credential)",
            r"unauthori[sz]ed|unauthenticated|authenticat|forbidden|permission[ _](?:denied|error)",
            r"oauth token|token (?:has )?expired",
        ),
    ),
    (
        Reason.AGENT_MODEL_NOT_FOUND,
        (
            r"model[ _]not[ _]found|unknown model|no such model|invalid model|not_found_error",
            r"model.{0,80}(?:does not exist|not found|not supported|is not available|unknown)",
        ),
    ),
    (
        Reason.AGENT_REFUSED,
        (
            r"content[ _](?:policy|filter|management)|usage policy",
            r"\brefusal\b|refused (?:to (?:answer|respond|help)|the request due)",
            r"safety (?:policy|system|filter|settings|reasons?)|(?:blocked|stopped).{0,30}safety",
        ),
    ),
    (
        Reason.AGENT_UNAVAILABLE,
        (
            r"overloaded|at capacity|unavailable|internal server error|server[ _]error|api_error|bad gateway|gateway time",
            r"connection|connect\b|econn|enotfound|eai_again|socket|network|dns|timed? ?out|deadline|fetch failed",
            r"stream.{0,30}(?:clos|end|disconnect|interrupt|incomplete|abort)|error decoding|incomplete",
            r"unexpected (?:end|token)|(?:not valid|invalid) json|malformed|html",
        ),
    ),
)
"""Searched from the top: earlier entries are more specific than later ones."""
_TOO_MANY, _SERVER = 429, 500
_BY_STATUS = {
    401: Reason.AGENT_NOT_SIGNED_IN,
    402: Reason.AGENT_NOT_SIGNED_IN,
    403: Reason.AGENT_NOT_SIGNED_IN,
    404: Reason.AGENT_MODEL_NOT_FOUND,
    408: Reason.AGENT_UNAVAILABLE,
    413: Reason.AGENT_CONTEXT_TOO_LONG,
    429: Reason.AGENT_RATE_LIMITED,
}
_FIRST = frozenset({Reason.AGENT_CONTEXT_TOO_LONG, Reason.AGENT_NOT_SIGNED_IN})
"""Reasons by which words overrule the status: a 400 is often a prompt that is too long, a 429 may be an empty account."""


def reason_of(status: int | None, words: str, profile: Profile) -> Reason | None:
    """Return what an error means; None if it is unknown.

    A status that the stream states outweighs the words. A status that was only found in the words does not.
    """
    for fault in profile.fault:
        if fault.matches.search(words):
            return fault.reason
    spoken = next((reason for reason, patterns in _WORDS if _found(patterns, words)), None)
    guessed = status or status_in(words)
    if guessed == _TOO_MANY and spoken is Reason.AGENT_NOT_SIGNED_IN and not _found(_EMPTY_ACCOUNT, words):
        spoken = None  # a service that says "try later" accepted the sign-in
    return spoken if spoken in _FIRST else _by_status(status) or spoken or _by_status(guessed)


def _found(patterns: Iterable[str], words: str) -> bool:
    # Compiled when first asked for: most runs meet no fault.
    return any(re.search(pattern, words, re.IGNORECASE) for pattern in patterns)


def _by_status(status: int | None) -> Reason | None:
    return _BY_STATUS.get(status or 0) or (Reason.AGENT_UNAVAILABLE if (status or 0) >= _SERVER else None)


def status_in(words: str) -> int | None:
    """Return the status code that an error's words mention."""
    found = re.search(_STATUS, words, re.IGNORECASE)
    return int(found[1] or found[2]) if found else None
