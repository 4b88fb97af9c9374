"""A checkout stands where its repository stands: tried from inside, wherever that is."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from santiago.process.command import Command, Report
from santiago.process.fence import Sandbox
from santiago.process.place import OUTSIDE, Dependency, Ground
from santiago.process.server import ProcessServer
from tests.process.test_sandbox import KINDS, found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture(params=KINDS)
def box(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    return found(request.param, {"HOME": str(home), "PATH": os.environ["PATH"]}, monkeypatch)


everywhere = pytest.mark.parametrize(
    "repo", ["in the home folder", "in /tmp", "in /srv", "with a space", "below a link"], indirect=True
)


@pytest.fixture
def repo(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Path]:
    """The user's own tree, of which nothing may be seen; below a link, unless a test names its places."""
    where = getattr(request, "param", "below a link")
    if where == "in /srv":
        if not os.access("/srv", os.W_OK):
            pytest.skip("/srv cannot be written by us")
        with tempfile.TemporaryDirectory(dir="/srv") as folder:
            yield furnished(Path(folder, "repo"))
        return
    if where == "below a link":
        (tmp_path / "elsewhere").mkdir()
        (home / "link").symlink_to(tmp_path / "elsewhere")
        yield furnished(home / "link" / "repo")
        return
    folders = {"in the home folder": home / "repo", "in /tmp": tmp_path / "repo", "with a space": home / "my repo"}
    yield furnished(folders[where])


def furnished(repo: Path) -> Path:
    (repo / ".venv").mkdir(parents=True)
    (repo / ".venv" / "tool").write_text("the user's tool\n")
    (repo / "mine").write_text("the user's own\n")
    (repo / ".git" / "objects" / "info").mkdir(parents=True)
    (repo / ".git" / "objects" / "one").write_text("an object\n")
    return repo


class Inside:
    """Runs scripts in checkouts of a repository."""

    def __init__(self, server: ProcessServer, box: Sandbox, repo: Path, scratch: Path) -> None:
        self.server, self.box, self.repo, self.scratch = server, box, repo, scratch
        self.ground = box.ground(
            str(repo),
            names=(str(repo),),
            stores=(os.path.realpath(repo / ".git" / "objects"),),
            dependencies=(Dependency(name=".venv", source=os.path.realpath(repo / ".venv")),),
            over=str(scratch / "over"),
        )

    def checkout(self, name: str) -> Path:
        (self.scratch / "work" / name).mkdir(parents=True)
        (self.scratch / "work" / name / "work").write_text("the work\n")
        return self.scratch / "work" / name

    def run(self, script: str, folder: Path, *read: str, ground: Ground | None = None) -> Report:
        env = {"PATH": os.environ["PATH"], "HOME": self.box.environment["HOME"]}  # type: ignore[attr-defined]  # both have it
        plain = Command(argv=("/bin/sh", "-c", script), cwd=str(folder), env=env, timeout_ms=60_000)
        place = (ground or self.ground).place(str(folder), *read)
        return self.server.run(self.box.wrap(plain, place=place, hidden=(str(self.scratch),)))


@pytest.fixture
def inside(server: ProcessServer, box: Sandbox, repo: Path, tmp_path: Path) -> Inside:
    return Inside(server, box, repo, tmp_path / "scratch")


@everywhere
def test_the_checkout_stands_where_the_repository_stands_and_hides_it(inside: Inside, repo: Path) -> None:
    one = inside.checkout("one")
    real = os.path.realpath(repo)
    assert inside.run("pwd; echo $PWD", one).head.splitlines() == [real, real]
    assert inside.run(f"cat work '{real}/work' '{repo}/work'; echo new >'{real}/new'", one).head == "the work\n" * 3
    assert inside.run(f"ls -A; ls -A '{repo}'", one).head.split() == [".venv", "new", "work"] * 2
    assert inside.run(f"ls '{inside.scratch}'", one).head == ""
    assert (one / "new").read_text() == "new\n"
    assert sorted(path.name for path in repo.iterdir()) == [".git", ".venv", "mine"]


def test_what_is_read_beside_it_lies_outside_and_stays_as_it_is(inside: Inside, repo: Path) -> None:
    prompt = repo / ".santiago" / "prompt.md"
    prompt.parent.mkdir()
    prompt.write_text("do it\n")
    assert inside.ground.place("/any", str(prompt)).called(str(prompt)) == f"{OUTSIDE}/prompt.md"
    one = inside.checkout("one")
    assert inside.run(f"cat {OUTSIDE}/prompt.md {OUTSIDE}/objects/0/one", one, str(prompt)).head == "do it\nan object\n"
    for target in ("prompt.md", "objects/0/one", "objects/0/new", "new/x"):
        inside.run(f"echo planted >{OUTSIDE}/{target}", one, str(prompt))
    assert (prompt.read_text(), list((repo / ".git/objects").rglob("*new*"))) == ("do it\n", [])
    assert (repo / ".git/objects/one").read_text() == "an object\n"


@pytest.mark.parametrize("repo", ["with a space", "in /srv"], indirect=True)  # an overlay has all paths in one option
def test_what_is_written_over_dependencies_belongs_to_its_checkout_alone(inside: Inside, repo: Path) -> None:
    if inside.ground.over is None:
        pytest.skip("no overlay can be mounted here")
    one, two = inside.checkout("one"), inside.checkout("two")
    assert inside.run("cat .venv/tool; echo ours >.venv/tool; echo new >.venv/new", one).head == "the user's tool\n"
    assert inside.run("cat .venv/tool .venv/new", one).head == "ours\nnew\n"
    assert inside.run("cat .venv/*; rm .venv/tool", two).head == "the user's tool\n"
    assert [path.name for path in (repo / ".venv").iterdir()] == ["tool"]
    assert (list((one / ".venv").iterdir()), list((two / ".venv").iterdir())) == ([], [])


def test_dependencies_are_only_read_where_there_are_no_overlays_and_what_set_up_made_is_the_checkouts_own(
    inside: Inside, repo: Path
) -> None:
    one, two, ground = inside.checkout("one"), inside.checkout("two"), replace(inside.ground, over=None)
    assert inside.run("cat .venv/tool && ! echo ours >.venv/tool", one, ground=ground).exit_code == 0
    assert (repo / ".venv/tool").read_text() == "the user's tool\n"
    (two / ".venv").mkdir()
    (two / ".venv" / "tool").write_text("made here\n")
    assert inside.run("cat .venv/tool", two).head == "made here\n"


def test_a_checkout_that_is_only_read_has_its_dependencies_and_cannot_be_written(inside: Inside, repo: Path) -> None:
    one = inside.checkout("one")
    script = "cat work .venv/tool; ! echo x >new && ! echo x >>work && ! rm work && echo refused"
    place = replace(inside.ground.place(str(one)), readonly=True)
    plain = Command(argv=("/bin/sh", "-c", script), cwd=str(one), env={"PATH": os.environ["PATH"]}, timeout_ms=60_000)
    ran = inside.server.run(inside.box.wrap(plain, place=place))
    assert [line for line in ran.head.splitlines() if not line.startswith(("/bin/sh", "rm"))] == [
        "the work", "the user's tool", "refused",
    ]  # fmt: skip
    assert (one / "work").read_text() == "the work\n"
    assert not (one / "new").exists()


def test_what_dependencies_lead_to_is_there(inside: Inside, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home))
    (home / "beside").mkdir()
    (home / "beside/code").write_text("of another package\n")
    (home / "secret").write_text("mine\n")
    one, ground = inside.checkout("one"), inside.box.ground(str(inside.repo), needed=(str(home / "beside"), str(home)))
    assert inside.run("cat ~/beside/code; ! test -e ~/secret", one, ground=ground).head == "of another package\n"


@pytest.mark.parametrize("link", [".venv", "packages"])
def test_a_link_in_a_checkout_leads_no_dependency_elsewhere(inside: Inside, link: str, tmp_path: Path) -> None:
    one, outside = inside.checkout("one"), tmp_path / "outside"
    outside.mkdir()
    (one / link).symlink_to(outside)
    name = ".venv" if link == ".venv" else "packages/.venv"
    dependency = replace(inside.ground.dependencies[0], name=name)
    assert replace(inside.ground, dependencies=(dependency,)).place(str(one)).provided == ()
