"""The catalogue of scenarios: its test contract, its graph, and the compiled copies that nobody edits."""

from pathlib import Path

import pytest

from santiago.board.board_place import find
from santiago.board.governance import scenario_copies, scenario_run, scenarios
from santiago.board.governance.scenario_run import Request, selected
from santiago.board.governance.scenarios import CATALOGUE
from tests.board.governance.product import BYE, HELLO, write, write_scenario

ROOT = ".sigee/.runtime"
COPY = f"{ROOT}/dag/scenarios/hello.scenario.yml"


def told(project: Path) -> list[str]:
    return [f"{one.where.removeprefix(f'{CATALOGUE}/')}: {one.message}" for one in scenarios.read(project).faults]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unit_normal_tests": "make a"}, "test contract: unit_normal_tests has 1 command and must have 2"),
        ({"boundary_smoke_tests": "a|||b|||c|||d|||e|||f"}, "boundary_smoke_tests has 6 commands and must have 5"),
        ({"unit_failure_tests": "make a|||make a"}, "unit_failure_tests names `make a` twice"),
        ({"unit_boundary_tests": "make a|||true"}, "test contract: `true` as unit_boundary_tests shows nothing, whatever the code does"),
        ({"unit_boundary_tests": "make a|||true && :"}, "`true && :` as unit_boundary_tests shows nothing"),
        ({"green_run": ":"}, "`:` as green_run shows nothing"),
        ({"red_run": ""}, "red_run is missing"),
        ({"depends_on": "hello"}, "depends_on names the scenario itself"),
        ({"linked_nodes": "nobody"}, "linked_nodes names nobody, which does not exist"),
        ({"linked_nodes": ""}, "linked_nodes names no scenario"),
        ({"layer": "deep"}, "stability_layer is 'deep'"),
    ],
)  # fmt: skip
def test_a_scenario_is_held_to_its_test_contract(project: Path, changes: dict[str, str], message: str) -> None:
    """Board line 60: two normal, two boundary, two failure and five smoke tests, no duplicates, no `true`."""
    write_scenario(project, HELLO, **changes)
    assert any(line.startswith("hello.scenario.yml:") and message in line for line in told(project)), told(project)


def test_a_cycle_is_told_as_a_path(project: Path) -> None:
    """Board line 72: the path of a cycle is printed."""
    write_scenario(project, HELLO, depends_on="bye")
    write_scenario(project, BYE, depends_on="hello")
    assert told(project) == ["bye.scenario.yml:7: scenarios wait for each other: bye -> hello -> bye"]


def test_steps_run_as_red_impl_units_green_smoke_and_one_brings_what_it_waits_for_and_no_gate(project: Path) -> None:
    """Board line 72: the order, gates last, a scenario after the green of what it depends on; and `--only`."""
    write_scenario(project, BYE, depends_on="hello")
    nodes = scenario_run.build(scenarios.read(project).scenarios)
    assert [name for name in nodes if name.startswith("hello")] == [
        "hello_red", "hello_impl", "hello_unit_normal_1", "hello_unit_normal_2", "hello_unit_boundary_1", "hello_unit_boundary_2",
        "hello_unit_failure_1", "hello_unit_failure_2", "hello_green",
        "hello_smoke_boundary_1", "hello_smoke_boundary_2", "hello_smoke_boundary_3", "hello_smoke_boundary_4", "hello_smoke_boundary_5",
    ]  # fmt: skip
    order = list(nodes)
    assert order[0] == "preflight"
    assert order[-2:] == ["smoke_gate", "e2e_gate"]
    assert order.index("hello_green") < order.index("bye_red")
    assert order.index("bye_green") < order.index("hello_smoke_boundary_1"), "smoke waits for the green of linked ones"
    for name, node in nodes.items():
        assert all(order.index(dep) < order.index(name) for dep in node.deps)
    found = scenarios.read(project).scenarios
    chosen = selected(found, Request(only="bye_red"))
    assert list(chosen)[-2:] == ["hello_green", "bye_red"]
    assert not any("smoke" in name for name in chosen)
    assert "e2e_gate" in selected(found, Request(only="e2e_gate"))


def test_a_change_brings_what_is_below_and_above(project: Path) -> None:
    """Board line 72: `--changed-only`; the shared gates only where they are asked for."""
    found = scenarios.read(project).scenarios
    chosen = selected(found, Request(concerned=("bye",)))
    assert {"bye_red", "bye_smoke_boundary_5", "hello_smoke_boundary_1", "hello_red"} <= chosen.keys()
    assert "smoke_gate" not in chosen
    assert "e2e_gate" in selected(found, Request(concerned=("bye",), gates=True))
    assert selected(found, Request(concerned=())) == {}


def test_compiling_leaves_copies_and_a_manifest_which_a_changed_source_makes_out_of_date(project: Path) -> None:
    """Board line 72: compile with manifest, idempotent; `--check-only` finds edits of the source, and writes nothing."""
    root = project / ROOT
    assert [one.message for one in scenario_copies.compiled(project, find(project, {}), check_only=True).faults] == [
        "it was never compiled"
    ] * 2
    assert not root.exists()
    done = scenario_copies.compiled(project, find(project, {}))
    assert done.faults == ()
    assert COPY in done.written
    head = (project / COPY).read_text().splitlines()[:3]
    assert [line.split(":")[0] for line in head] == ["# GENERATED_FROM", "# SOURCE_SHA256", "# GENERATED_AT"]
    manifest = (root / "dag/scenarios/.compiled-manifest.tsv").read_text().splitlines()
    assert manifest[0].split("\t") == list(scenario_copies.COLUMNS)
    assert [line.split("\t")[0] for line in manifest[1:]] == ["bye", "hello"]
    again = scenario_copies.compiled(project, find(project, {}))
    assert (again.written, again.unchanged) == ((), 2)
    assert scenario_copies.compiled(project, find(project, {}), check_only=True).faults == ()
    (project / CATALOGUE / "bye.scenario.yml").unlink()
    write_scenario(project, HELLO, title="Another", linked_nodes="")
    assert [
        (one.file, one.message) for one in scenario_copies.compiled(project, find(project, {}), check_only=True).faults
    ] == [
        (f"{ROOT}/dag/scenarios/bye.scenario.yml", "its scenario bye was removed"),
        (f"{CATALOGUE}/hello.scenario.yml", f"it changed since its copy {COPY} was made"),
    ]
    done = scenario_copies.compiled(project, find(project, {}))
    assert done.written == (COPY,)
    assert done.removed == (f"{ROOT}/dag/scenarios/bye.scenario.yml",)
    assert scenario_copies.compiled(project, find(project, {}), check_only=True).faults == ()


@pytest.mark.parametrize("forge_manifest", [False, True])
def test_an_edited_copy_is_refused(project: Path, forge_manifest: bool) -> None:
    """Board line 72: an edited runtime copy is refused, also where the manifest was edited with it."""
    from hashlib import sha256

    root = project / ROOT
    scenario_copies.compiled(project, find(project, {}))
    before = sha256((project / COPY).read_bytes()).hexdigest()
    write(project, COPY, (project / COPY).read_text() + "red_run: make nothing\n")
    if forge_manifest:
        manifest = root / "dag/scenarios/.compiled-manifest.tsv"
        text = manifest.read_text().replace(before, sha256((project / COPY).read_bytes()).hexdigest())
        manifest.write_text(text)
    for found in (
        scenario_copies.compiled(project, find(project, {}), check_only=True),
        scenario_copies.compiled(project, find(project, {})),
    ):
        assert [(one.file, one.message) for one in found.faults] == [(COPY, "this copy was edited")]
    assert "make nothing" in (project / COPY).read_text(), "what somebody wrote is not overwritten"


def test_scenarios_that_stand_only_below_the_runtime_root_are_refused(project: Path) -> None:
    """Board line 58: the catalogue is .sigee/dag/scenarios."""
    scenario_copies.compiled(project, find(project, {}))
    for path in (project / CATALOGUE).iterdir():
        path.unlink()
    assert (
        "and none is in .sigee/dag/scenarios" in scenario_copies.compiled(project, find(project, {})).faults[0].message
    )


def test_copies_are_not_written_through_a_link(project: Path, tmp_path: Path) -> None:
    """Board line 72: paths stay inside the project."""
    from santiago.contract.errors import SantiagoError

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project / ROOT).mkdir()
    (project / ROOT / "dag").symlink_to(elsewhere)
    with pytest.raises(SantiagoError):
        scenario_copies.compiled(project, find(project, {}))
    assert list(elsewhere.iterdir()) == []
