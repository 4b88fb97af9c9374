"""A small governed project: two scenarios of a shop that says hello (core) and goodbye (system)."""

from pathlib import Path

from santiago.board.governance.hierarchy import TRUTH
from santiago.board.governance.scenarios import BUNDLES, CATALOGUE, ENDING
from tests.workspace.conftest import git

_HEAD = 'version: 1\nrevision: 4\nupdated_at: "2026-01-31T12:00:00Z"\nowner: "planner"\n'
_FILES = {
    "vision.yaml": 'visions:\n  - id: "VIS-SHOP"\n    statement: "Customers feel welcome."\n',
    "pillars.yaml": 'pillars:\n  - id: "PIL-TALK"\n    vision_id: "VIS-SHOP"\n',
    "objectives.yaml": 'objectives:\n  - id: "OBJ-TALK"\n    pillar_id: "PIL-TALK"\n',
    "outcomes.yaml": 'outcomes:\n  - id: "OUT-TALK"\n    objective_id: "OBJ-TALK"\n',
    "capabilities.yaml": (
        'capabilities:\n  - id: "CAP-HELLO"\n    outcome_id: "OUT-TALK"\n    stability_layer_default: "core"\n'
        '  - id: "CAP-BYE"\n    outcome_id: "OUT-TALK"\n    stability_layer_default: "system"\n'
    ),
    "core-overrides.yaml": "overrides: []\n",
}
_LINK = """\
  - scenario_id: "{id}"
    outcome_id: "OUT-TALK"
    capability_id: "{capability}"
    dag_node_prefix: "{id}"
    stability_layer: "{layer}"
    required_test_contract: {{unit_normal: 2, unit_boundary: 2, unit_failure: 2, boundary_smoke: 5}}
"""
HELLO = {"id": "hello", "capability": "CAP-HELLO", "layer": "core"}
BYE = {"id": "bye", "capability": "CAP-BYE", "layer": "system"}


def scenario(id: str, capability: str, layer: str, **changes: str) -> str:
    """Return a scenario that is in order, but for the changes."""
    keys = {
        "id": id, "title": f"The shop says {id}", "owner": "planner", "outcome_id": "OUT-TALK", "capability_id": capability,
        "stability_layer": layer, "depends_on": "", "linked_nodes": "bye" if id == "hello" else "hello",
        "changed_paths": f"{id}.txt", "red_run": f"test ! -f {id}.txt", "impl_run": f"test -d . -a -n impl-{id}",
        "green_run": f"grep -q {id} {id}.txt", "verify": f"test -s {id}.txt",
        **{key: "|||".join(f"grep -q {id} {id}.txt -m {n + 1} # {key}" for n in range(number)) for key, number in BUNDLES.items()},
        **changes,
    }  # fmt: skip
    return "".join(f'{key}: "{value}"\n' for key, value in keys.items())


def write(project: Path, name: str, text: str) -> None:
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_truth(project: Path, file: str, body: str, revision: int = 4) -> None:
    write(project, f"{TRUTH}/{file}", _HEAD.replace("revision: 4", f"revision: {revision}") + body)


def write_scenario(project: Path, one: dict[str, str], **changes: str) -> None:
    write(project, f"{CATALOGUE}/{one['id']}{ENDING}", scenario(**{**one, **changes}))


def govern(project: Path, *kinds: dict[str, str]) -> None:
    for file, body in _FILES.items():
        write_truth(project, file, body)
    write_truth(project, "traceability.yaml", "links:\n" + "".join(_LINK.format(**one) for one in kinds))


def make(project: Path) -> Path:
    govern(project, HELLO, BYE)
    for one in (HELLO, BYE):
        write_scenario(project, one)
        write(project, f"{one['id']}.txt", "".join(f"{one['id']} {number}\n" for number in range(5)))
    git(project, "init", "-q", "-b", "main")
    commit(project)
    return project


def override(project: Path, expires_at: str) -> None:
    write_truth(
        project,
        "core-overrides.yaml",
        'overrides:\n  - id: "OVR-1"\n    layer: "core"\n    approved_by: "ann"\n    reason: "a new greeting"\n'
        f'    created_at: "2026-01-01T00:00:00Z"\n    expires_at: "{expires_at}"\n',
    )


def commit(project: Path) -> str:
    git(project, "add", "-A")
    git(project, "commit", "-q", "--allow-empty", "-m", "work")
    return git(project, "rev-parse", "HEAD")
