"""The text of a pull request for a run: its title, and a body with the evidence of each story."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.contract.checks import commands_of, run_commands_of
from santiago.contract.lazy_regex import pattern
from santiago.contract.phases import StoryPhase
from santiago.executor.tally import counted, criteria_of, status_of
from santiago.report.account_lines import not_planned
from santiago.report.proof import PROOFS, UNPROVEN, attested_by, changed, excuse
from santiago.util.text import count, first, flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from santiago.app.loading import Run
    from santiago.contract.plan import Story

LONGEST = 60_000
"""Longest body, in characters. The services allow a little more."""
TITLE = 120
_NOT_PLANNED = "Parts of the document that this run did not work on"

MOST_CHARACTERS = 300
"""Characters of one untrusted text."""
_CODE = pattern(r"`([^`\n]{1,300})`")
_MARKS = pattern(r"[\\`*\[\]<>&~|$!^{}]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that Markdown reads as markup. An underscore between letters is not one."""
_LINKS = pattern(r"[@#]|(?<=www)\.|(?<=:)//", re.IGNORECASE)
"""Texts that code forges turn into links: names, numbers, addresses."""
_ITEM = pattern(r"^(\d{0,9})([-+.)])(?= )")


def title(run: Run) -> str:
    """Return the title of the run, on one line."""
    return first(flat(run.plan.title), TITLE)


def body(run: Run) -> str:
    """Return the evidence of a run as Markdown: the finished stories with their proofs, and the stories that are not done."""
    done = [story for story in run.plan.stories if run.state.stories[story.id].phase is StoryPhase.DONE]
    open_ones = [story for story in run.plan.stories if run.state.stories[story.id].is_unproven]
    left = [story for story in run.plan.stories if story not in (*done, *open_ones)]
    attested = attested_by(run.plan, run.state, run.history)
    unplanned = not_planned(run.plan)
    rest = [
        *(["", "### Not proven", "", f"{UNPROVEN}", ""] if open_ones else []),
        *(line for story in open_ones[:50] for line in _open(story, run)),
        *(["", "### Not done", ""] if left else []),
        *(f"- {story.id} {prose(story.title)}: {status_of(run.state.stories[story.id])}" for story in left[:50]),
        *(["", "### Attested", ""] if attested else []),
        *(f"- {prose(text)}" for text in attested),
        *(["", "### Not planned", "", f"{_NOT_PLANNED}: {prose(unplanned)}"] if unplanned else []),
        *_checks(run),
        "",
        *_proofs(run, done),
        f"Run {code(run.run_id)}, plan sha256:{run.plan.digest[:12]}. Each story was judged in a clean checkout by the checks above.",
    ]
    lines = [
        f"Carries out {code(run.plan.source.path)}: {prose(counted(run.plan, run.state))}.",
        "",
        *_fitting(done, run, LONGEST - sum(len(line) + 1 for line in rest) - 1000),
        *rest,
    ]
    return "\n".join(lines) + "\n"


def _fitting(done: Sequence[Story], run: Run, room: int) -> Iterator[str]:
    """Yield the stories that fit, and the number of those that do not."""
    for at, story in enumerate(done):
        lines = list(_story(story, run))
        room -= sum(len(line) + 1 for line in lines)
        if room < 0:
            yield from ("", f"… and {count(len(done) - at, 'story', 'stories')} more")
            return
        yield from lines


def _story(story: Story, run: Run) -> Iterator[str]:
    state = run.state.stories[story.id]
    how = f"kept from {code(state.kept)}" if state.is_kept else f"{count(state.counted, 'attempt')}, {state.proof}"
    yield f"- **{story.id} {prose(story.title)}** ({how}, {(state.commit or '')[:12]})"
    yield from _criteria(story, run)


def _open(story: Story, run: Run) -> Iterator[str]:
    """Yield a story that nobody has called done yet, and its criteria."""
    state = run.state.stories[story.id]
    told = (prose(changed(state, run.out_dir)), prose(excuse(state, run.out_dir)), state.integrated[:12])
    yield f"- **{story.id} {prose(story.title)}** ({', '.join(filter(None, told))})"
    yield from _criteria(story, run)


def _criteria(story: Story, run: Run) -> Iterator[str]:
    state = run.state.stories[story.id]
    shown = {row.id: row for row in criteria_of(state)}
    known = run.plan.criteria
    for name in story.criteria:
        row = shown.get(name)
        seen = "no test was named for it"
        if row and row.test:
            nothing = "" if row.is_shown else ", which shows nothing"
            seen = f"{code(row.test)} ({row.before} before, {row.after} now){nothing}"
        told = f"{code(story.name_of(name))} {prose(known[name])}" if name in known else prose(name)
        yield f"  - {told}: {seen}"


def _proofs(run: Run, done: Sequence[Story]) -> Iterator[str]:
    """Yield what the words mean that say how strongly the stories are shown."""
    used = {state.proof for story in done if not (state := run.state.stories[story.id]).is_kept}
    told = [f"- {proof}: {meaning}" for proof, meaning in PROOFS.items() if proof in used]
    yield from [*told, ""] if told else []


def judging(run: Run) -> list[str]:
    """Return the commands that judge a run and its stories."""
    own = [command for story in run.plan.stories for command in commands_of(story, run.run_input)]
    return list(dict.fromkeys((*run_commands_of(run.plan, run.run_input), *own)))


def _checks(run: Run) -> Iterator[str]:
    if commands := judging(run):
        yield from ("", "### Checks", "")
        yield from (f"- {code(command)}" for command in commands[:30])
        yield from ([f"- … and {len(commands) - 30} more"] if len(commands) > 30 else [])


# Untrusted texts: they are shown literally, with as few escapes as possible, so that the source stays readable


def code(text: str) -> str:
    """Return a text as code."""
    words = first(flat(text), MOST_CHARACTERS)
    fence = "`" * (max((len(run) for run in re.findall("`+", words)), default=0) + 1)
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{fence}{pad}{words}{pad}{fence}"


def prose(text: str) -> str:
    """Return a text on one line. Code stays code; nothing else becomes markup or a link."""
    parts = _CODE.split(first(flat(text), MOST_CHARACTERS))
    return "".join(code(part) if at % 2 else _escaped(part) for at, part in enumerate(parts))


def _escaped(text: str) -> str:
    words = _MARKS.sub(lambda mark: f"\\{mark[0]}", text)
    words = _LINKS.sub(lambda mark: "".join(f"&#{ord(sign)};" for sign in mark[0]), words)
    return _ITEM.sub(r"\1\\\2", words)
