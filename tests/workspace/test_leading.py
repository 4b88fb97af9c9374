"""What leads from installed packages into the repository is found by reading, in every form that tools write it."""

import json
from pathlib import Path

import pytest

from santiago.workspace.editable_installs import Lead, blind_to, elsewhere, leads
from tests.util.each import each

HERE = {"PATH": "/nowhere", "HOME": "/nonexistent"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "repo/src/pkg").mkdir(parents=True)
    (tmp_path / "other/src").mkdir(parents=True)
    return tmp_path / "repo"


@pytest.fixture
def site(repo: Path) -> Path:
    folder = repo / ".venv/lib/python3.11/site-packages"
    folder.mkdir(parents=True)
    return folder


def found(repo: Path, *names: str, environment: dict[str, str] | None = None) -> list[tuple[str, str, str | None]]:
    folders = [str(repo / name) for name in names or (".venv",)]
    return [(Path(one.file).name, one.target, one.first) for one in leads(repo, folders, environment or HERE)]


def test_lines_of_path_files_lead_to_folders_and_links_to_packages(repo: Path, site: Path) -> None:
    (site / "a.pth").write_text(f"# a note\nimport os; os.x\n{repo}/src\n{repo.parent}/other/src\n{repo}/gone\n")
    (site / "b.pth").write_text("../../../../src\n")
    (site / "pkg.egg-link").write_text(f"{repo}\n.")
    (site / "pkg").symlink_to(repo / "src/pkg")
    assert sorted(found(repo)) == [
        ("a.pth", "src", "src"),
        ("b.pth", "src", "src"),
        ("pkg", "src/pkg", "src"),
        ("pkg.egg-link", ".", "."),
    ]


def test_finders_lead_to_modules(repo: Path, site: Path) -> None:
    mapping = {
        "pkg": f"{repo}/src/pkg",
        "one.two": f"{repo}/lib/one/two",
        "other": f"{repo}/src/renamed",
        "far": "/far",
    }
    finder = site / "__editable___x_finder.py"
    finder.write_text(f"import sys\nMAPPING: dict[str, str] = {mapping}\nNAMESPACES = {{}}\n")
    leading = [("src/pkg", "src"), ("lib/one/two", "lib"), ("src/renamed", None)]
    assert found(repo) == [(finder.name, target, first) for target, first in leading]


@pytest.mark.parametrize("explained", [True, False])
def test_an_editable_install_that_nothing_explains_is_no_less_one(repo: Path, site: Path, explained: bool) -> None:
    (site / "pkg-1.dist-info").mkdir()
    note = {"url": repo.as_uri(), "dir_info": {"editable": True}}
    (site / "pkg-1.dist-info/direct_url.json").write_text(json.dumps(note))
    if explained:
        (site / "pkg.pth").write_text(f"{repo}/src")
    assert found(repo) == [("pkg.pth", "src", "src") if explained else ("direct_url.json", ".", None)]


@each("note", ["", "[", "[]", '{"url": 1}', '{"url": "file:///x", "dir_info": 1}', '{"url": "https://e/"}'])
def test_notes_of_other_installs_lead_nowhere(tmp_path: Path, note: str) -> None:
    place = tmp_path / ".venv/lib/python3.11/site-packages/pkg-1.dist-info"
    place.mkdir(parents=True)
    (place / "direct_url.json").write_text(note)
    assert found(tmp_path) == []


def test_the_python_on_the_search_path_is_looked_at(repo: Path, tmp_path: Path) -> None:
    for name in ("env", "home/.local", "home/.pyenv/versions/3.12.1"):
        folder = tmp_path / name / "lib/python3.12/site-packages"
        folder.mkdir(parents=True)
        (folder / f"{Path(name).name}.pth").write_text(f"{repo}/src")
    (tmp_path / "env/bin").mkdir()
    (tmp_path / "env/bin/python3").symlink_to("/usr/bin/python3")
    environment = {"PATH": f"{tmp_path}/env/bin", "HOME": str(tmp_path / "home")}
    assert {one[0] for one in found(repo, environment=environment)} == {"env.pth", ".local.pth", "3.12.1.pth"}


def test_links_between_packages_of_node_lead_to_them(repo: Path) -> None:
    (repo / "node_modules/@own").mkdir(parents=True)
    (repo / "node_modules/.pnpm/x").mkdir(parents=True)
    (repo / "node_modules/@own/a").symlink_to("../../src")
    (repo / "node_modules/b").symlink_to(repo.parent / "other")
    (repo / "node_modules/x").symlink_to(".pnpm/x")
    assert found(repo, "node_modules") == [("a", "src", None)]


def test_composer_finds_classes_beside_where_its_folder_really_lies(repo: Path) -> None:
    (repo / "vendor/composer").mkdir(parents=True)
    table = "<?php\n$baseDir = dirname($vendorDir);\nreturn array(\n    'Own\\\\' => array($baseDir . '/src'),\n);\n"
    (repo / "vendor/composer/autoload_psr4.php").write_text(table)
    (repo / "vendor/composer/autoload_files.php").write_text("<?php $baseDir = 1; return array();")
    assert found(repo, "vendor") == [("autoload_psr4.php", ".", None)]


def test_packages_beside_the_repository_are_found(repo: Path, site: Path) -> None:
    other = repo.parent / "other"
    (other / "lib").mkdir()
    (site / "a.pth").write_text(f"{other}/src\n{repo}/src\n/gone\n")
    (site / "__editable___x_finder.py").write_text(f"MAPPING = {{'lib': '{other}/lib', 'pkg': '{repo}/src/pkg'}}\n")
    (repo / "node_modules/@own").mkdir(parents=True)
    (repo / "node_modules/@own/o").symlink_to(other)
    found = elsewhere(repo, [str(repo / ".venv"), str(repo / "node_modules")])
    assert sorted(found) == [str(other), f"{other}/lib", f"{other}/src"]


BLIND = "PYTHONPATH=. pytest|env PYTHONPATH=x make|python -I -m pytest|python3 -Wd -X dev -Em pytest|.venv/bin/python -IB t.py"
SEEING = "python -m pytest -E|pytest -I|python -Wignore test.py -I|python -m x"


def test_commands_that_heed_no_search_path_are_told_and_others_are_not() -> None:
    lead = Lead(file="f", target="src", first="src")
    for command in BLIND.split("|"):
        assert blind_to([lead], ["make", command]) == (lead, command)
        assert blind_to([], [command]) is None
    for command in SEEING.split("|"):
        assert blind_to([lead], [command]) is None, command
