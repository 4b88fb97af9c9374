"""Starters: the smallest product truth and catalogue that agree with each other. The project replaces them by its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from santiago.artifacts.files import write_whole
from santiago.board.governance import hierarchy
from santiago.board.governance.documents import Faults
from santiago.board.governance.hierarchy import LINKS, OVERRIDES, TRUTH, path_of
from santiago.board.governance.scenarios import CATALOGUE, ENDING, files_in
from santiago.contract.errors import Kind, SantiagoError
from santiago.util.clock import SystemClock
from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = """\
# {what}
version: 1
revision: {revision}
updated_at: "{now}"
owner: "planner"
"""
_LISTS = {
    "vision.yaml": (
        "What the product is for. Replace this starter before anything can be done.",
        """\
visions:
  - id: "VIS-BOOT-1"
    title: "A product that is still to be named"
    statement: "Say in one sentence for whom the product changes what."
    status: "draft"
""",
    ),
    "pillars.yaml": (
        "What the vision rests on.",
        """\
pillars:
  - id: "PIL-BOOT-1"
    vision_id: "VIS-BOOT-1"
    title: "The first thing that must never break"
    status: "draft"
""",
    ),
    "objectives.yaml": (
        "What is to be reached for each pillar.",
        """\
objectives:
  - id: "OBJ-BOOT-1"
    pillar_id: "PIL-BOOT-1"
    title: "The first goal that can be reached or missed"
    status: "draft"
""",
    ),
    "outcomes.yaml": (
        "What users see when an objective is reached.",
        """\
outcomes:
  - id: "OUT-BOOT-1"
    objective_id: "OBJ-BOOT-1"
    title: "The first thing that a user can do"
    evidence_required: []
    status: "draft"
""",
    ),
    "capabilities.yaml": (
        "What the product must be able to do for that, and how stable it has to be: core, system or experimental.",
        """\
capabilities:
  - id: "CAP-BOOT-1"
    outcome_id: "OUT-BOOT-1"
    stability_layer_default: "experimental"
    title: "The first ability of the product"
    in_scope: []
    out_of_scope: []
    status: "draft"
""",
    ),
    "traceability.yaml": (
        "Which scenario shows which capability.",
        """\
links:
  - scenario_id: "bootstrap_foundation_truth"
    outcome_id: "OUT-BOOT-1"
    capability_id: "CAP-BOOT-1"
    dag_node_prefix: "bootstrap_foundation_truth"
    stability_layer: "experimental"
    required_test_contract:
      unit_normal: 2
      unit_boundary: 2
      unit_failure: 2
      boundary_smoke: 5
""",
    ),
    "core-overrides.yaml": (
        "Permissions to change the core layer, each by a person, with a reason and an end.",
        "overrides: []\n",
    ),
}
_SCENARIO = """\
# The first scenario: what the product does, shown by commands that can fail. Replace it by one of your own.
id: bootstrap_foundation_truth
title: "The product truth is written down"
owner: "planner"
outcome_id: "OUT-BOOT-1"
capability_id: "CAP-BOOT-1"
stability_layer: "experimental"
depends_on: ""
linked_nodes: ""
changed_paths: "{truth}/**"
red_run: "test ! -s {truth}/vision.yaml"
impl_run: "test -d {truth}"
green_run: "test -s {truth}/vision.yaml"
verify: "test -s {truth}/traceability.yaml"
unit_normal_tests: "grep -q statement {truth}/vision.yaml|||grep -q vision_id {truth}/pillars.yaml"
unit_boundary_tests: "grep -q pillar_id {truth}/objectives.yaml|||grep -q objective_id {truth}/outcomes.yaml"
unit_failure_tests: "test ! -e {truth}/vision.yml|||test ! -L {truth}/vision.yaml"
boundary_smoke_tests: "test -s {truth}/vision.yaml|||test -s {truth}/pillars.yaml|||test -s {truth}/objectives.yaml\
|||test -s {truth}/outcomes.yaml|||test -s {truth}/capabilities.yaml"
"""


def seed(project: Path) -> tuple[str, ...]:
    """Write the starters that are missing, and return their names. Files that exist stay as they are."""
    for folder in (TRUTH, CATALOGUE):
        if not is_inside(project / folder, project):
            hint = "Put the folder itself there."
            raise SantiagoError(Kind.INPUT, "a link leads out of the project", where=folder, hint=hint)
    texts = _texts(project)
    for name, text in texts.items():
        write_whole(project / name, text.encode())
    return tuple(texts)


def _texts(project: Path) -> dict[str, str]:
    known = hierarchy.read(project, Faults()).revisions  # new files get the revision of the files that exist
    now = f"{SystemClock().utc()[:19]}Z"
    revision = max((number for file, number in known.items() if file != OVERRIDES.file), default=1)
    heads = {"revision": revision, "now": now}
    texts = {f"{TRUTH}/{file}": _HEAD.format(what=what, **heads) + body for file, (what, body) in _LISTS.items()}
    missing = {name: text for name, text in texts.items() if not os.path.lexists(project / name)}
    if path_of(LINKS) in missing and not files_in(project, CATALOGUE):
        missing[f"{CATALOGUE}/bootstrap_foundation_truth{ENDING}"] = _SCENARIO.format(truth=TRUTH)
    return missing
