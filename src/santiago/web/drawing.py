"""Where things stand in drawings: the graph of a plan, and the bars of a timeline. Pure; templates write the SVG."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from santiago.contract.moments import ms_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDE, HIGH, ACROSS, DOWN = 176, 40, 224, 54
"""Size of a box of the graph, and the distance from one to the next."""
COLUMN = 12
"""How many boxes stand in one column."""
LONG = 100
"""Width of a timeline: what is placed in it has percentages."""
FOLD_MS, FOLD_SHARE, FOLD_WIDTH = 60_000, 0.2, 0.05
"""Idle time is folded if it is longer than this, and than this share of the working time; and how wide it is then."""


def graph(nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Place boxes so that each stands to the right of all that it comes `after`."""
    levels: dict[str, int] = {}
    for node in _ordered(nodes):
        levels[node["id"]] = 1 + max((levels.get(name, -1) for name in node["after"]), default=-1)
    columns: dict[int, list[Mapping[str, Any]]] = {}
    for node in nodes:
        columns.setdefault(levels[node["id"]], []).append(node)
    placed: dict[str, dict[str, Any]] = {}
    column = 0
    for _, there in sorted(columns.items()):
        lines = sorted(there, key=lambda node: _middle(node, placed))
        for at, node in enumerate(lines):
            x, y = (column + at // COLUMN) * ACROSS + 2, at % COLUMN * DOWN + 2
            placed[node["id"]] = {**node, "x": x, "y": y}
        column += 1 + (len(lines) - 1) // COLUMN
    return {
        "nodes": [placed[node["id"]] for node in nodes],
        "edges": [_edge(placed[name], to) for to in placed.values() for name in to["after"] if name in placed],
        "width": max(column, 1) * ACROSS - ACROSS + WIDE + 4,
        "height": max((node["y"] for node in placed.values()), default=0) + HIGH + 2,
        "wide": WIDE,
        "high": HIGH,
    }


def _ordered(nodes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return boxes with those that others come after first. The stories of a plan are in this order; chunks may not be."""
    left, known = list(nodes), {node["id"] for node in nodes}
    found: list[Mapping[str, Any]] = []
    while left:
        there = {node["id"] for node in found}
        free = [node for node in left if all(name in there or name not in known for name in node["after"])]
        found += free or left[:1]
        left = [node for node in left if node not in found]
    return found


def _middle(node: Mapping[str, Any], placed: Mapping[str, Mapping[str, Any]]) -> float:
    """Return the mean height of what a box comes after, so that few lines cross."""
    heights = [placed[name]["y"] for name in node["after"] if name in placed]
    return sum(heights) / len(heights) if heights else 0


def _edge(one: Mapping[str, Any], to: Mapping[str, Any]) -> str:
    x, y, end, level = one["x"] + WIDE, one["y"] + HIGH // 2, to["x"], to["y"] + HIGH // 2
    bend = max(20, (end - x) // 2)
    return f"M{x} {y}C{x + bend} {y} {end - bend} {level} {end} {level}"


class _Axis(NamedTuple):
    """Turns times into places. Folded times take little room."""

    times: list[int]
    places: list[float]

    def at(self, ms: int) -> float:
        here = min(max(bisect_right(self.times, ms) - 1, 0), len(self.times) - 2)
        begin, end = self.times[here : here + 2]
        share = min(max((ms - begin) / max(end - begin, 1), 0.0), 1.0)
        return self.places[here] + share * (self.places[here + 1] - self.places[here])


def timeline(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Give each row its bars: what kind it is, where it begins, and how wide it is."""
    axis = _axis([(ms_of(row["since"]), ms_of(row["until"])) for row in rows if row["kind"] == "attempt"])
    return [{**row, "bars": _bars(row, axis)} for row in rows]


def _axis(busy: list[tuple[int, int]]) -> _Axis:
    merged: list[list[int]] = []
    for begin, end in sorted(busy):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, max(end, begin + 1)])
    merged = merged or [[0, 1]]
    worked = sum(end - begin for begin, end in merged)
    times = [moment for span in merged for moment in span]
    wide = [float(end - begin) for begin, end in pairwise(times)]
    for gap in range(1, len(wide), 2):
        if wide[gap] > max(FOLD_MS, FOLD_SHARE * worked):
            wide[gap] = FOLD_WIDTH * worked
    places, scale = [0.0], LONG / sum(wide)
    for one in wide:
        places.append(places[-1] + one * scale)
    return _Axis(times, places)


def _bars(row: Mapping[str, Any], axis: _Axis) -> list[dict[str, Any]]:
    since, until = ms_of(row["since"]), ms_of(row["until"])
    if row["kind"] != "attempt":
        return [_bar("wait", axis.at(since), axis.at(until))]
    worked = min(since + row["agent_ms"], until)
    judged = min(worked + row["verify_ms"], until)
    if not row["agent_ms"] + row["verify_ms"]:  # it is under way
        return [_bar("agent", axis.at(since), axis.at(until))]
    bars = [("agent", since, worked), ("checks", worked, judged)]
    return [_bar(kind, axis.at(begin), axis.at(end)) for kind, begin, end in bars if end > begin]


def _bar(kind: str, begin: float, end: float) -> dict[str, Any]:
    return {"kind": kind, "x": round(begin, 2), "width": round(max(end - begin, 0.15), 2)}
