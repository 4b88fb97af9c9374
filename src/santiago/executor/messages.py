"""Short texts about an attempt: the message of its commit, and what could not be kept of it."""

from __future__ import annotations

from collections.abc import Sequence

from santiago.contract.plan import Story

LONGEST = 120
"""Characters of one complaint."""
NAMED = 3


def subject(story: Story) -> str:
    title = " ".join(story.title.split())
    return f"{story.id}: {title if len(title) <= 80 else title[:79] + '…'}"


def trailers(run_id: str, story: Story, attempt: int, anchor: str, content: str) -> list[tuple[str, str]]:
    """Return the trailers of a commit. `anchor` is the position in the log, `content` the digest of what the story asks for."""
    return [
        ("Santiago-Run", run_id),
        ("Santiago-Story", story.id),
        *([("Santiago-Content", content)] if content else []),
        ("Santiago-Attempt", str(attempt)),
        ("Santiago-Head", anchor),
    ]


def commit_message(run_id: str, story: Story, attempt: int, anchor: str, content: str) -> str:
    """Return the message of an attempt's commit."""
    lines = (f"{key}: {value}" for key, value in trailers(run_id, story, attempt, anchor, content))
    return "\n".join([subject(story), "", *lines, ""])


def ticks_message(run_id: str, path: str, anchor: str) -> str:
    """Return the message of the commit that ticks what is done."""
    name = " ".join(path.split())
    return f"Tick what is done in {name}\n\nSantiago-Run: {run_id}\nSantiago-Head: {anchor}\n"


def mended(files: Sequence[str]) -> tuple[str, ...]:
    """Return the remark that files which show the plan were changed while an agent worked."""
    named = " and ".join(files)
    return (f"{named} changed while the agent worked; santiago wrote it again",) if files else ()


def too_large(files: Sequence[str]) -> str:
    """Return one line on the files that exceed the limits of one attempt's work."""
    return f"The work is too large to be kept: {'; '.join(files)}"


def left_out(complaints: Sequence[str]) -> str:
    """Return one line on the files that git could not keep; empty where it kept all."""
    if not complaints:
        return ""
    named = "; ".join(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…" for text in complaints[:NAMED])
    more = f"; and {len(complaints) - NAMED} more" if len(complaints) > NAMED else ""
    return f"git could not keep {len(complaints)} of the agent's files or folders: {named}{more}"


def flaky(tests: Sequence[str]) -> str:
    """Return one line on tests that failed once and passed when they ran again; empty if there is none."""
    more = f" and {len(tests) - NAMED} more" if len(tests) > NAMED else ""
    named = ", ".join(test[:LONGEST] for test in tests[:NAMED])
    return f"flaky (failed once, passed when run again): {named}{more}" if tests else ""


def left_in_copy(names: Sequence[str]) -> str:
    """Return one line on what an agent wrote into its copy of its settings; empty where it wrote nothing."""
    if not names:
        return ""
    named = ", ".join(name[:LONGEST] for name in names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"the agent changed a copy of its settings; your own are unchanged: {named}{more}"
