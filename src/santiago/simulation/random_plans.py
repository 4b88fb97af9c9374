"""Small plans, made in a line: stories by their name, needs and files; and plans by chance."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from santiago.contract.plan import Chunk, Origin, Plan, Source, Story


def plan_of(stories: Sequence[Story]) -> Plan:
    chunks: dict[str, list[str]] = {}
    for one in stories:
        chunks.setdefault(one.chunk, []).append(one.id)
    return Plan(
        contract_version=1, title="", source=Source(path="prd.md", sha256="0" * 64, format="markdown", evidence=()),
        digest="0" * 64, requirements=(), stories=tuple(stories),
        chunks=tuple(Chunk(label=label, stories=tuple(names)) for label, names in chunks.items()),
        run_verify=(), findings=(),
    )  # fmt: skip


def story_of(name: str, chunk: str = "C01", needs: Sequence[str] = (), **more: Any) -> Story:
    fields: dict[str, Any] = {
        "id": name, "title": "", "description": "", "requirements": (), "criteria": (), "depends_on": tuple(needs),
        "external_depends_on": (), "chunk": chunk, "role": "developer", "profile": None, "files": (), "verify": (),
        "priority": None, "claimed_done": False, "origin": Origin(id=None, line=0), "provenance": (), **more,
    }  # fmt: skip
    return Story(**fields)


def story(
    name: str, *, chunk: str = "C01", needs: Sequence[str] = (), files: Sequence[str] = ("own",), **more: object
) -> Story:
    paths = tuple(f"{name}.py" if path == "own" else path for path in files)
    own = {"title": f"Title {name}", "requirements": (f"R{name[1:]}",), "files": paths, **more}
    return story_of(name, chunk, needs, **own)


def random_plan(random: Random, most: int = 14) -> Plan:
    """Return a plan with random chunks, dependencies and file focus."""
    count, chunks = random.randint(1, most), random.randint(1, 3)
    labels = sorted(random.randint(1, chunks) for _ in range(count))
    stories: list[Story] = []
    for number, label in enumerate(labels, 1):
        earlier = [one.id for one in stories]
        needs = random.sample(earlier, min(len(earlier), random.choice((0, 0, 1, 2))))
        files = random.choice(
            (["own"], ["own"], ["shared.py"], ["own", f"area{random.randint(1, 2)}.py"], [], ["src/"])
        )
        stories.append(
            story(f"S{number}", chunk=f"C0{label}", needs=sorted(needs, key=lambda n: int(n[1:])), files=files)
        )
    return plan_of(stories)
