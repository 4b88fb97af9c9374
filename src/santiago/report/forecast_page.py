"""What a run will take: a line where people decide, a page with its picture, and how far earlier forecasts were off."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.app import expected
from santiago.app.loading import load
from santiago.contract.counting import count, few
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import ENDED
from santiago.contract.reasons import MEANINGS, Reason
from santiago.report.measures import roughly, span
from santiago.report.page import Line, Page, labelled, titled
from santiago.report.spending import dollars, thousands
from santiago.simulation.forecast import ONE_MORE, Forecast, critical_path
from santiago.util.clock import SystemClock
from santiago.util.text import fit, flat, width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from santiago.app.forecasting import Compared, Outlook
    from santiago.contract.plan import Story
    from santiago.simulation.drawn_run import Bar, Task
    from santiago.simulation.forecast import Gain, Hop, Spread
    from santiago.simulation.history import History

MOST_ROWS = 40
"""How many stories the picture in the terminal has."""
MOST_HOPS = 12
_ASSUMED = {
    "time of an attempt": "attempts of 3 to 8 min", "success": "80 % of attempts pass", "cost": "$0.40 for an attempt",
    "time of checks": "checks of 60 s",
}  # fmt: skip
"""What is assumed in place of each option, where no history tells it."""
MOST_NAMES = 6
_BARS = {"attempt": "█", "failed": "▒", "waiting": "─"}
_COLOURS = {"attempt": "#2e7d32", "failed": "#c62828", "waiting": "#b0bec5"}


def between(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def money(spread: Spread) -> str:
    return between(_usd(spread.low), _usd(spread.high))


def _usd(micro: float) -> str:
    """Return money as one says it where it is not certain."""
    return f"${micro / 1e6:,.0f}" if micro >= 3e6 else dollars(round(micro))


def sentence(found: Outlook | None) -> str:
    """Return a forecast on one line; empty where there is none."""
    if found is None:
        return ""
    time = between(roughly(found.ms.low), roughly(found.ms.high))
    cost = f" and {money(found.micro_usd)} in all" if found.micro_usd and found.left else ""
    cost = f" and {money(found.micro_usd)}" if found.micro_usd and not found.left else cost
    more = " more" if found.left else ""
    return f"about {time}{more}{cost} with {count(found.jobs, 'job')}, from {count(found.attempts, 'attempt')} here"


def rest_of(out_dir: Path) -> str:
    """Return on one line what is left of a run, or what a plan will take; empty where nothing is left or known."""
    try:
        run = load(out_dir)
    except SantiagoError:
        return ""
    if run.begun and run.state.phase in ENDED:
        return ""
    return sentence(expected.of_rest(Path(run.run_input.repo_path), lambda: run, SystemClock().utc()))


def off(found: Outlook | None, ms: int) -> str:
    """Return how far a forecast was off; empty where there was none."""
    if found is None:
        return ""
    time = between(roughly(found.ms.low), roughly(found.ms.high))
    if found.ms.low <= ms <= found.ms.high:
        return f"forecast: {time}, and it took {span(ms)}"
    share = round(100 * abs(ms / max(1.0, found.ms.middle) - 1))
    return f"forecast: {time}, and it took {span(ms)}, {share} % {'more' if ms > found.ms.middle else 'less'} than the middle of it"


def page(
    task: Task, history: History, found: Sequence[Forecast], gained: Sequence[Gain], seed: int, called: str
) -> Page:
    """Return the page of `santiago simulate`. The first forecast is the one that is looked at closely."""
    usual, names = found[0].usual, {story.id for story in task.plan.stories}
    path = critical_path(task.plan, usual.course)

    def lines(columns: int) -> Iterator[Line]:
        stories = count(len(task.plan.stories), "story", "stories")
        yield Line(flat(f"{called}: {stories} in {count(len(task.plan.chunks), 'chunk')}"), "head")
        yield Line(f"{_origin(history)}; {count(len(found[0].runs), 'run')} simulated, seed {seed}", label="Drawn")
        if task.events:
            yield Line("what is left; the money is that of the whole run", label=" ")
        yield from (Line(), *_table(found), Line())
        yield from labelled("Ends", _ends(found[0]), "warn")
        yield from labelled("Path", [_path(path)] if path else [])
        yield from labelled("Held up", [_held(gained, found[0])])
        yield from labelled("Budgets", _raise(found[0]), "warn")
        yield from labelled("Faster", faster(task, gained, path))
        bars = [bar for bar in usual.course.bars if bar.story in names]
        yield from titled(
            f"The run in the middle, with {count(found[0].jobs, 'job')}", _picture(bars, usual.ms, columns)
        )

    def data() -> dict[str, Any]:
        return {
            "contract_version": 1, "stories": len(task.plan.stories), "seed": seed, "runs": len(found[0].runs),
            "drawn_from": {
                "origin": history.origin or "options", "attempts": len(history.attempts) if history.origin else 0,
                "runs": history.runs, "options": list(history.said),
            },
            "left": bool(task.events), "jobs": [_data(one) for one in found],
            "critical_path": [hop._asdict() for hop in path], "gains_ms": {one.name: round(one.ms) for one in gained},
            "bottleneck": bottleneck(gained) or None, "faster": faster(task, gained, path),
        }  # fmt: skip

    return Page(lines, data)


def _origin(history: History) -> str:
    said = f"; from options: {', '.join(history.said)}" if history.said else ""
    if history.origin:
        runs = count(history.runs, "run")
        return f"{count(len(history.attempts), 'attempt')} of {runs} {history.origin}{said}"
    assumed = [words for name, words in _ASSUMED.items() if name not in history.said]
    return f"no history; assumed: {', '.join(assumed)}{said}" if assumed else "no history; the options say everything"


def _table(found: Sequence[Forecast]) -> Iterator[Line]:
    yield Line(f"{'':>5}  {'time':^26}  {'money':^26}  {'all stories':>12}", "dim")
    heads = [f"{word:>8}" for word in ("p10", "p50", "p90")]
    yield Line(f"{'jobs':>5}  {' '.join(heads)}  {' '.join(heads)}  {'done':>12}", "dim")
    for one in found:
        time = " ".join(f"{span(round(ms)):>8}" for ms in one.ms)
        yield Line(f"{one.jobs:>5}  {time}  {_spent(one):>26}  {one.chance:>12.0%}")


def _spent(one: Forecast) -> str:
    if one.micro_usd:
        return " ".join(f"{dollars(round(micro)):>8}" for micro in one.micro_usd)
    if one.tokens:
        return " ".join(f"{thousands(round(number)):>8}" for number in one.tokens) + " tokens"
    return "unknown"


def _ends(one: Forecast) -> list[str]:
    told = [(name.partition(" "), number / len(one.runs)) for name, number in one.ends.most_common(4)]
    return [
        f"{share:.0%} of the runs end before all stories are done: {_clause(reason)}{f' ({limit})' if limit else ''}"
        for (reason, _, limit), share in told
    ]


def _clause(reason: str) -> str:
    sentence = MEANINGS[Reason(reason)].sentence
    return sentence[0].lower() + sentence[1:].rstrip(".")


def _path(path: Sequence[Hop]) -> str:
    told = [f"{hop.story} {roughly(hop.ms)}{f' ({hop.why})' if hop.why else ''}" for hop in path[-MOST_HOPS:]]
    more = f"… {count(len(path) - MOST_HOPS, 'story', 'stories')} before, " if len(path) > MOST_HOPS else ""
    return more + " → ".join(told)


def bottleneck(gained: Sequence[Gain]) -> str:
    return next((one.name for one in gained if one.name != ONE_MORE), "")


def _held(gained: Sequence[Gain], usual: Forecast) -> str:
    if not usual.mostly_whole:
        return "by what ends most runs early; what would make them faster can only be told without that"
    if not gained:
        return "by nothing but the time of the agents themselves"
    more = next((one.ms for one in gained if one.name == ONE_MORE), 0.0)
    told = [f"{one.name} ({roughly(one.ms)} of {roughly(usual.ms.middle)})" for one in gained if one.name != ONE_MORE]
    job = f"one more job brings {roughly(more)}" if more else "one more job brings nothing"
    return f"most by {'; then '.join(told[:4])}; {job}" if told else job


def faster(task: Task, gained: Sequence[Gain], path: Sequence[Hop]) -> list[str]:
    """Return what to change in the document or in the settings, the most useful first."""
    says = {
        "stories without files": _nameless(task),
        "files that stories share": _shared(path),
        "dependencies": _chain(path),
        "chunks": "each chunk waits for the whole one before; put stories that need nothing of it into one chunk",
        "rate limits": "the service refuses at times: another agent behind a comma takes over (--agent a,b)",
        "people's gates": "answers take long: approve the rest of a chunk or of the run with one answer",
        "integration": "verified work waits for its turn: faster checks, since each is verified again on the branch",
        "jobs": f"more jobs, up to {len(task.plan.stories)}: --jobs N",
    }
    found = [(says[one.name], one.ms) for one in gained if one.name in says]
    return [f"{text}   (up to {roughly(ms)})" for text, ms in found[:4] if text]


def _raise(one: Forecast) -> list[str]:
    """Return which limits to raise, where many runs end at one."""
    limits = [(name.partition(" ")[2], number / len(one.runs)) for name, number in one.ends.most_common(3)]
    return [
        f"raise limits.{limit}   ({share:.0%} of the runs end at it)"
        for limit, share in limits
        if limit and share > 0.1
    ]


def _nameless(task: Task) -> str:
    names = [story.id for story in task.plan.stories if not story.files]
    verb = "names" if len(names) == 1 else "name"
    return f"{few(names, MOST_NAMES)} {verb} no files, so nothing runs beside {'it' if len(names) == 1 else 'them'}: add `Files:`"


def _shared(path: Sequence[Hop]) -> str:
    on_path = [hop for hop in path if hop.why.startswith("shares ")]
    paths = list(dict.fromkeys(hop.why.removeprefix("shares ") for hop in on_path))
    names = few([hop.story for hop in on_path], MOST_NAMES)
    return (
        f"{names} {'waits' if len(on_path) == 1 else 'wait'} for {few(paths, 3)}: give each story files of its own"
        if paths
        else ""
    )


def _chain(path: Sequence[Hop]) -> str:
    needing = [hop.story for hop in path if hop.why == "needs"]
    return (
        f"{few(needing, MOST_NAMES)} {'waits' if len(needing) == 1 else 'wait'} for declared dependencies: drop those that are not needed"
        if needing
        else ""
    )


def _data(one: Forecast) -> dict[str, Any]:
    spreads = {"ms": one.ms, "micro_usd": one.micro_usd, "tokens": one.tokens}
    told = {name: {"p10": s[0], "p50": s[1], "p90": s[2]} if s else None for name, s in spreads.items()}
    return {"jobs": one.jobs, **told, "chance": one.chance, "ends": dict(one.ends)}


# Pictures


def _picture(bars: Sequence[Bar], ms: int, columns: int) -> Iterator[Line]:
    """Yield a row for each story: when its attempts ran, and how long its work waited for its turn."""
    rows = list(dict.fromkeys(bar.story for bar in sorted(bars, key=lambda bar: bar.begin)))
    names = max((width(name) for name in rows), default=0)
    room = max(30, min(columns or 100, 120) - names - 5)
    yield Line(f"  {'':{names}} 0{span(ms):>{room - 1}}", "dim")
    for name in rows[:MOST_ROWS]:
        cells = [" "] * room
        for bar in (one for one in bars if one.story == name):
            first, last = (int(at * (room - 1) / max(1, ms)) for at in (bar.begin, bar.end))
            cells[first : last + 1] = _BARS[bar.kind] * (last - first + 1)
        yield Line(f"  {name:{names}} {''.join(cells).rstrip()}", verbatim=True)
    if len(rows) > MOST_ROWS:
        yield Line(f"  … and {count(len(rows) - MOST_ROWS, 'more story', 'more stories')} (--svg has all)")
    yield Line("  █ passes   ▒ fails   ─ waits for its turn", "dim")


def svg(stories: Sequence[Story], one: Forecast) -> str:
    """Return the same picture as SVG, with all stories."""
    usual = one.usual
    titles = {story.id: story.title for story in stories}
    rows = list(dict.fromkeys(bar.story for bar in sorted(usual.course.bars, key=lambda bar: bar.begin)))
    wide, high = 900, 18
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="12" width="{wide + 300}" height="{high * (len(rows) + 2)}">',
        f'<text x="290" y="13">0</text><text x="{290 + wide}" y="13" text-anchor="end">{span(usual.ms)}</text>',
    ]
    for at, name in enumerate(rows, 1):
        label = escape(fit(f"{name} {titles.get(name, '')}", 40).rstrip())
        parts.append(f'<text x="4" y="{at * high + 13}">{label}</text>')
        for bar in (bar for bar in usual.course.bars if bar.story == name):
            x, w = 290 + wide * bar.begin / max(1, usual.ms), max(1.0, wide * (bar.end - bar.begin) / max(1, usual.ms))
            thin = 6 if bar.kind == "waiting" else 0
            parts.append(
                f'<rect x="{x:.1f}" y="{at * high + 3 + thin}" width="{w:.1f}" height="{12 - 2 * thin or 2}" '
                f'fill="{_COLOURS[bar.kind]}"><title>{escape(name)}: {bar.kind}, {span(bar.end - bar.begin)}</title></rect>'
            )
    return "\n".join([*parts, "</svg>", ""])


# How far forecasts were off


def calibration(found: Sequence[Compared]) -> Page:
    """Return how the runs of a repository compare with what would have been said before each."""
    within = sum(one.is_within for one in found)

    def lines(_: int) -> Iterator[Line]:
        if not found:
            yield Line("no run here ended after enough attempts of earlier ones, so there is nothing to compare")
            return
        for one in found:
            told = off(one.said, one.ms).removeprefix("forecast: ")
            yield Line(f"{one.run_id:<20}  {told}", "" if one.is_within else "warn")
        yield Line()
        share = round(100 * within / len(found))
        yield Line(
            f"{within} of {count(len(found), 'run')} ended within the forecast ({share} %; 80 % is what it promises)"
        )

    def data() -> dict[str, Any]:
        rows = [
            {"run_id": one.run_id, "ms": one.ms, "micro_usd": one.micro_usd, "within": one.is_within,
             "forecast_ms": dict(zip(("p10", "p50", "p90"), one.said.ms, strict=True)), "attempts": one.said.attempts}
            for one in found
        ]  # fmt: skip
        return {"contract_version": 1, "runs": rows, "within": within}

    return Page(lines, data)
