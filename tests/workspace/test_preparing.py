"""Dependencies are installed once for all checkouts that need the same ones, and everything else that set-up makes each time."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from santiago.process.place import Ground
from santiago.workspace import manifests
from santiago.workspace.dependencies import on_path
from santiago.workspace.preparing import MOST_KEPT, Preparing
from tests.util.each import each
from tests.workspace.conftest import STAY, Bench, commit
from tests.workspace.test_caches import lay

WAYS = (STAY,)


@pytest.fixture
def preparing(bench: Bench) -> Preparing:
    lay(bench.repo, "package.json", text='{"dependencies": {"a": "1"}, "scripts": {"test": "x"}}')
    lay(bench.repo, "package-lock.json", "install.sh")
    commit(bench.repo, "A package")
    return Preparing(
        workspace=bench.workspace,
        ground=Ground(repo=str(bench.repo), seen_there=True),
        setup=("./install.sh",),
        names=("node_modules", ".venv", "vendor"),
        environment={"PATH": "/bin"},
        furnish=lambda _: None,
    )


def prepared(preparing: Preparing, commit: str, *makes: str) -> tuple[bool, dict[str, str]]:
    """Prepare a checkout with a set-up that makes some files; return whether it ran, and what is provided from where."""
    folder = preparing.workspace.checkout(commit, "one")
    ran = preparing.begin(folder)
    if ran:
        lay(folder, *makes)
        preparing.end(folder)
    provided = preparing.ground.place(folder).provided
    preparing.workspace.discard(folder)
    return ran, {one.name: one.source for one in provided}


def committed(bench: Bench, name: str, text: str) -> str:
    lay(bench.repo, name, text=text)
    return commit(bench.repo, "Change")


MADE = ("node_modules/a/index.js", "lib/vendor/x", ".venv/bin/python", "lib/__pycache__/x.pyc", "src.egg-info/PKG-INFO")


def test_the_same_dependencies_are_installed_once_for_commands_and_path(bench: Bench, preparing: Preparing) -> None:
    elsewhere = replace(preparing, ground=Ground(repo=str(bench.repo)))
    for _ in range(2):
        assert prepared(elsewhere, bench.first, *MADE) == (True, {}), "each checkout has a path of its own"
    ran, first = prepared(preparing, bench.first, *MADE)
    assert ran
    assert sorted(first) == [".venv", "lib/vendor", "node_modules", "src.egg-info"]
    assert Path(first["node_modules"], "a/index.js").read_text() == "x\n"
    assert prepared(preparing, bench.first) == (False, first)
    assert prepared(replace(preparing, workspace=bench.again()), bench.first) == (False, first)
    assert prepared(replace(preparing, setup=("npm ci",)), bench.first, *MADE)[0]


def test_a_set_up_that_makes_anything_else_or_nothing_runs_every_time(bench: Bench, preparing: Preparing) -> None:
    for other in ("generated/code.py", "a", "target/x", ".env.local", "nested/.hidden"):
        for _ in range(2):
            assert prepared(preparing, bench.first, "node_modules/a/index.js", other) == (True, {})
    assert [prepared(preparing, bench.first)[0] for _ in range(2)] == [True, True]


SCM = {
    "[tool.hatch.build.hooks.vcs]": "version-file",
    "[tool.setuptools_scm]": "write_to",
    "[tool.setuptools_scm ]": "version_file",
}


def test_a_version_that_a_build_takes_from_git_is_copied_and_the_set_up_runs_once(
    bench: Bench, preparing: Preparing
) -> None:
    lay(bench.repo, ".gitignore", text="_version.py\nnode_modules\nother.py\n")
    for table, key in SCM.items():
        first = committed(bench, "pyproject.toml", f'{table}\n{key} = "lib/_version.py"\n')
        assert prepared(preparing, first, "node_modules/a/index.js", "lib/_version.py", "other.py")[0], (
            "and more than that"
        )
        assert prepared(preparing, first, "node_modules/a/index.js", "lib/_version.py")[0]
        folder = preparing.workspace.checkout(first, "one")
        assert not preparing.begin(folder)
        assert Path(folder, "lib/_version.py").read_text() == "x\n"
        preparing.workspace.discard(folder)
        committed(bench, "setup.cfg", table)


def test_a_version_that_is_a_link_out_of_the_checkout_is_not_kept(bench: Bench, preparing: Preparing) -> None:
    lay(bench.repo, ".gitignore", text="_version.py\nnode_modules\n")
    first = committed(bench, "pyproject.toml", '[tool.setuptools_scm]\nwrite_to = "_version.py"\n')
    folder = preparing.workspace.checkout(first, "one")
    assert preparing.begin(folder)
    lay(folder, "node_modules/a/index.js")
    Path(folder, "_version.py").symlink_to("/etc/passwd")
    preparing.end(folder)
    assert prepared(preparing, first, "node_modules/a/index.js")[0]


CHANGES = {
    "package-lock.json": ("new\n", True),
    "install.sh": ("new\n", True),
    "lib/requirements-dev.txt": ("x==1\n", True),
    "setup.py": ("new\n", True),
    "lib/setup.py": ("new\n", False),
    "a": ("new\n", False),
    "package.json": ('{"dependencies": {"a": "2"}}', True),
    "package.json ": ('{"dependencies": {"a": "1"}, "scripts": {"test": "y"}, "version": "2"}', False),
    "package.json  ": ('{"dependencies": {"a": "1"}, "scripts": {"test": "x", "postinstall": "y"}}', True),
    "package.json   ": ("{", True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_it_runs_again_where_other_packages_are_asked_for(bench: Bench, preparing: Preparing, change: str) -> None:
    text, again = CHANGES[change]
    prepared(preparing, bench.first, *MADE)
    assert prepared(preparing, committed(bench, change.strip(), text), *MADE)[0] is again


def test_a_set_up_that_lacks_the_repositorys_dependencies_gets_them(bench: Bench, preparing: Preparing) -> None:
    lay(bench.repo, "node_modules/a/index.js")
    ground = replace(preparing.ground, dependencies=bench.workspace.dependencies(["node_modules"]))
    preparing = replace(preparing, ground=ground)
    folder = bench.workspace.checkout(bench.first, "one")
    assert preparing.begin(folder)
    assert ground.place(folder).provided == ()
    assert preparing.again(folder)
    assert [one.name for one in ground.place(folder).provided] == ["node_modules"]
    lay(folder, ".venv/x")
    preparing.end(folder)
    assert not preparing.again(folder)
    assert prepared(preparing, bench.first, *MADE)[0], "half a set is never kept"


def test_old_sets_make_room_for_new_ones(bench: Bench, preparing: Preparing) -> None:
    for number in range(MOST_KEPT + 2):
        prepared(replace(preparing, setup=(f"x {number}",)), bench.first, *MADE)
    assert len(os.listdir(preparing.shelf)) == MOST_KEPT


def test_work_that_asks_for_packages_which_nobody_installs_is_told(bench: Bench, preparing: Preparing) -> None:
    base, bare = bench.first, replace(preparing, setup=())
    harmless = committed(bench, "package.json", '{"dependencies": {"a": "1"}, "version": "2"}')
    asking = committed(bench, "package.json", '{"dependencies": {"a": "2"}}')
    assert bare.lacking(base, harmless) == ""
    assert "package.json asks for other packages" in bare.lacking(base, asking)
    assert preparing.lacking(base, asking) == ""


PROJECT = '[project]\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["a"]\n[dependency-groups]\ndocs = ["x"]\ntest = ["y"]\n'
POETRY = '[tool.poetry.dependencies]\npython = "^3.9"\na = "1"\n'


@each(
    ("path", "before", "after", "beside", "told"),
    [
        ("doc/requirements.txt", "a==1", "a==2", "", False), ("requirements-docs.txt", "a==1", "a==2", "", False),
        ("requirements.txt", "a==1", "a==1  # pinned\n\n", "", False), ("requirements-dev.txt", "a==1", "a==2", "", True),
        ("pyproject.toml", PROJECT, PROJECT.replace("3.9", "3.10").replace('"1"', '"2"').replace('"x"', '"z"'), "", False),
        ("pyproject.toml", PROJECT, PROJECT.replace('["a"]', '["a", "b"]'), "", True), ("pyproject.toml", PROJECT, PROJECT.replace('"y"', '"z"'), "", True),
        ("pyproject.toml", POETRY, POETRY.replace("3.9", "3.10"), "", False), ("pyproject.toml", POETRY, POETRY.replace('"1"', '"2"'), "", True),
        ("package.json", '{"engines": {"node": "18"}}', '{"engines": {"node": "20"}, "peerDependencies": {"a": "*"}}', "", False),
        ("package.json", '{"devDependencies": {"a": "1"}}', '{"devDependencies": {}}', "", True),
        ("package.json", '{"scripts": {"prepare": "x"}}', '{"scripts": {"prepare": "y"}, "packageManager": "pnpm@9"}', "", False),
        ("website/package.json", '{"dependencies": {"a": "1"}}', '{"dependencies": {"a": "2"}}', "", False),
        ("package-lock.json", "1", "2", "package.json", False), ("sub/uv.lock", "1", "2", "sub/pyproject.toml", False),
        ("package-lock.json", "1", "2", "sub/package.json", True), ("Pipfile.lock", "1", "2", "Pipfile", True),
        ("go.mod", "go 1.21", "go 1.22", "go.mod", False), ("Cargo.lock", "1", "2", "Cargo.toml", False), ("package.json", "[", "{", "", True),
    ],
)  # fmt: skip
def test_only_other_packages_for_tests_are_told(path: str, before: str, after: str, beside: str, *, told: bool) -> None:
    """Not the language's version, documentation, a package's own version, or lock files that follow their manifest."""
    assert manifests.matters(path, before.encode(), after.encode(), {path, beside}) is told


# Which folders of the repository a checkout gets although git ignores them

NAMES = (".venv", "venv", "node_modules", "vendor")


def found(bench: Bench, *names: str) -> list[str]:
    return [one.name for one in bench.workspace.dependencies(names or NAMES)]


def rules(bench: Bench, text: str) -> None:
    (bench.repo / ".gitignore").write_text(text)
    commit(bench.repo, "Rules")


def test_folders_that_git_ignores_are_found_also_further_down_and_what_a_build_made_never(bench: Bench) -> None:
    rules(bench, "vendor/\ntarget/\nbuild/\ndist/\n")
    lay(bench.repo, ".venv/pyvenv.cfg", "vendor/x", "node_modules/x", "lib/node_modules/x", "lib/untracked/vendor/x")
    assert found(bench) == [".venv", "node_modules", "vendor", "lib/node_modules"]
    assert found(bench, "lib/node_modules", "../repo/vendor", "/vendor") == ["lib/node_modules"]
    lay(bench.repo, "env/.gitignore", text="*\n")
    assert found(bench, "env") == ["env"], "it ignores itself"
    builds = ("target", "build", "dist", "lib/build")
    lay(bench.repo, *(f"{name}/x" for name in builds))
    assert found(bench, *builds) == []


def test_what_is_tracked_or_only_uncommitted_is_no_dependency(bench: Bench) -> None:
    lay(bench.repo, "vendor/x")
    commit(bench.repo, "Our own vendor")
    lay(bench.repo, "lib/vendor/x")
    assert found(bench) == []


def test_a_link_to_an_environment_is_followed_one_in_use_known_by_the_path(bench: Bench, tmp_path: Path) -> None:
    lay(tmp_path, "envs/one/pyvenv.cfg")
    (bench.repo / ".venv").symlink_to(tmp_path / "envs/one")
    (link,) = bench.workspace.dependencies(NAMES)
    assert (link.name, link.source) == (".venv", str(tmp_path / "envs/one"))
    lay(bench.repo, "env/pyvenv.cfg", "env/bin/x", "tools/bin/x")
    path = f"{bench.repo}/env/bin:/usr/bin:{bench.repo}/tools/bin:{bench.repo}"
    assert on_path(bench.repo, path) == ["env"]


def test_no_snapshot_takes_what_was_provided(bench: Bench) -> None:
    rules(bench, "")
    lay(bench.repo, "deps/.gitignore", text="*\n")
    assert found(bench, "deps") == ["deps"]
    folder = bench.opened()
    lay(folder, "deps/new", "work")
    snapshot = bench.taken()
    assert [change.path for change in snapshot.changes] == ["work"]
