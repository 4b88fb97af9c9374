"""The product truth: what is wrong with it is told at once, with file and line."""

from pathlib import Path

import pytest

from santiago.board.governance import truth_validation
from santiago.board.governance.hierarchy import TRUTH
from santiago.board.governance.scenarios import CATALOGUE
from santiago.board.governance.starters import seed
from tests.board.governance.product import BYE, override, write, write_scenario, write_truth


def told(project: Path, *, strict: bool = True) -> list[str]:
    return [
        f"{one.where.removeprefix('.sigee/')}: {one.message}"
        for one in truth_validation.validate(project, strict=strict)
    ]


def test_a_truth_in_order_is_valid_with_a_comment_on_starters_and_an_expired_override(project: Path) -> None:
    """Board lines 57, 61 and 62: strict validation passes, and the revision can be read by others (line 38); what expired is told."""
    assert told(project) == []
    assert truth_validation.revision(project) == 4
    path = project / TRUTH / "vision.yaml"
    path.write_text(f"# VIS-BOOT-1 stood here once\n{path.read_text()}")
    assert told(project) == []
    override(project, "2026-02-01T00:00:00Z")
    assert told(project) == []
    (note,) = truth_validation.notes(project)
    assert "core-overrides.yaml:6: the override OVR-1 expired on 2026-02-01T00:00:00Z" in note
    (project / TRUTH / "vision.yaml").unlink()
    assert truth_validation.revision(project) is None


def test_every_fault_is_told_at_once_with_its_file_and_line(project: Path) -> None:
    """Board line 57: each fault with file and line."""
    write_truth(project, "pillars.yaml", 'pillars:\n  - id: "PIL-TALK"\n    vision_id: "VIS-NONE"\n')
    write_truth(project, "objectives.yaml", 'objectives:\n  - pillar_id: "PIL-TALK"\n  - odd\n')
    write(project, f"{TRUTH}/outcomes.yaml", "version: x\nrevision: 0\nupdated_at: soon\noutcomes: none\n")
    write(project, f"{TRUTH}/vision.yaml", "visions: [\n")
    assert told(project, strict=False) == [
        "product-truth/objectives.yaml:6: id is missing",
        "product-truth/objectives.yaml:7: this entry has no keys",
        "product-truth/outcomes.yaml:1: owner is missing",
        "product-truth/outcomes.yaml:1: version is not a whole number from 1 on",
        "product-truth/outcomes.yaml:2: revision is not a whole number from 1 on",
        "product-truth/outcomes.yaml:3: updated_at is not a time in UTC",
        "product-truth/outcomes.yaml:4: there is no list outcomes",
        "product-truth/vision.yaml:2: not valid YAML: did not find expected node content",
    ]


def test_a_name_that_leads_nowhere_is_told_where_it_stands(project: Path) -> None:
    """Board line 57: goal hierarchy and links."""
    write_truth(project, "pillars.yaml", 'pillars:\n  - id: "PIL-TALK"\n    vision_id: "VIS-NONE"\n')
    write_truth(project, "capabilities.yaml", "capabilities: []\n")
    assert told(project, strict=False) == [
        "product-truth/pillars.yaml:6: vision_id of PIL-TALK names VIS-NONE, which is not in vision.yaml",
        "product-truth/traceability.yaml:6: there is no capability CAP-HELLO",
        "product-truth/traceability.yaml:12: there is no capability CAP-BYE",
    ]


def test_strict_asks_for_all_files_and_one_revision(project: Path) -> None:
    """Board line 57: the goal hierarchy, strict."""
    (project / TRUTH / "core-overrides.yaml").unlink()
    write_truth(project, "vision.yaml", 'visions:\n  - id: "VIS-SHOP"\n', revision=5)
    assert told(project, strict=False) == []
    differ, missing = told(project)
    assert differ.startswith("product-truth: the files have different revisions: vision.yaml 5, pillars.yaml 4")
    assert missing == "product-truth/core-overrides.yaml: it is missing"
    assert truth_validation.revision(project) is None


def test_strict_asks_that_link_capability_and_scenario_agree(project: Path) -> None:
    """Board line 57: layers, and a scenario for every link."""
    write_scenario(project, BYE, layer="experimental")
    (project / CATALOGUE / "hello.scenario.yml").rename(project / CATALOGUE / "other.scenario.yml")
    found = told(project)
    assert "dag/scenarios/bye.scenario.yml:6: stability_layer is experimental, and its link says system" in found
    assert "dag/scenarios/other.scenario.yml:1: the id hello is not the file's name other" in found


def test_starters_hold_together_but_are_no_product(tmp_path: Path) -> None:
    """Board lines 12 and 61: seeded once, valid to begin with, and each is named by file and line until it is replaced."""
    made = seed(tmp_path)
    assert f"{TRUTH}/vision.yaml" in made
    assert f"{CATALOGUE}/bootstrap_foundation_truth.scenario.yml" in made
    before = {name: (tmp_path / name).read_bytes() for name in made}
    assert seed(tmp_path) == ()
    assert {name: (tmp_path / name).read_bytes() for name in made} == before
    assert told(tmp_path, strict=False) == []
    found = told(tmp_path)
    assert "product-truth/vision.yaml:7: the starter VIS-BOOT-1 is still there" in found
    for starter in ("PIL-BOOT-1", "OBJ-BOOT-1", "OUT-BOOT-1", "CAP-BOOT-1", "bootstrap_foundation_truth"):
        assert any(starter in line for line in found), starter
    assert all("starter" in line for line in found)


def test_only_what_is_missing_is_seeded(project: Path) -> None:
    """Board line 12: what is there stays, and what is added belongs to its revision."""
    (project / TRUTH / "core-overrides.yaml").unlink()
    assert seed(project) == (f"{TRUTH}/core-overrides.yaml",)
    assert told(project) == []


def test_seeding_follows_no_link_out_of_the_project(tmp_path: Path) -> None:
    """Board line 12: paths stay inside the project."""
    from santiago.contract.errors import SantiagoError

    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    project.mkdir()
    elsewhere.mkdir()
    (project / ".sigee").symlink_to(elsewhere)
    with pytest.raises(SantiagoError, match="out of the project"):
        seed(project)
    assert list(elsewhere.iterdir()) == []


def test_an_override_says_who_why_and_until_when(project: Path) -> None:
    """Board line 62: the format of overrides."""
    write_truth(project, "core-overrides.yaml", "overrides:\n  - id: OVR-1\n    layer: system\n")
    assert told(project) == [
        "product-truth/core-overrides.yaml:6: approved_by is missing",
        "product-truth/core-overrides.yaml:6: created_at is not a time in UTC",
        "product-truth/core-overrides.yaml:6: expires_at is not a time in UTC",
        "product-truth/core-overrides.yaml:6: reason is missing",
        "product-truth/core-overrides.yaml:6: the layer of an override is not core",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("&a [1]\n*a", "not valid YAML"),
        ("visions: !!python/object:os.system []", "the tag"),
        ("x" * (2 << 20), "it is larger than 1024 KiB"),
        ("version: 1\nrevision: 4\nupdated_at: 2999-01-01T00:00:00Z\nowner: a\nvisions: []", "updated_at is in the future"),
    ],
)  # fmt: skip
def test_odd_files_are_refused_by_name(project: Path, text: str, message: str) -> None:
    """Board line 57: whatever a file holds, it is read within bounds and told as a fault."""
    write(project, f"{TRUTH}/vision.yaml", text)
    assert any(line.startswith("product-truth/vision.yaml") and message in line for line in told(project))
