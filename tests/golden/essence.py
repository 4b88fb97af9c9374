"""What a log means, apart from how the state is kept: the part of a state that no later version may tell otherwise."""

from typing import Any

from santiago.contract.state import RunState

_OF_STORY = ("id", "chunk", "phase", "attempts", "counted", "used_ms", "commit", "proof", "reason", "skipped", "notes")
_OF_RUN = (
    "run_id",
    "phase",
    "seq",
    "epoch",
    "active_chunk",
    "attempts",
    "counted",
    "used_ms",
    "tokens",
    "cost_micro_usd",
    "raised",
    "head",
    "branch",
    "reason",
    "plan_digest",
    "input_digest",
)


def essence(state: RunState) -> dict[str, Any]:
    """Return the meaning of a state as plain JSON data."""
    ahead = {name: [*one.ahead.onto, one.ahead.passed] for name, one in state.stories.items() if one.ahead}
    return {
        "run": {name: _plain(getattr(state, name)) for name in _OF_RUN},
        "stories": [
            {name: _plain(getattr(story, name)) for name in _OF_STORY}
            for story in sorted(state.stories.values(), key=lambda story: story.index)
        ],
        "ready": [story.id for story in state.ready_stories()],
        "approved": sorted(state.approved),
        "questions": {name: [question.answer, question.detail] for name, question in state.questions.items()},
        **({"ahead": ahead} if ahead else {}),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
