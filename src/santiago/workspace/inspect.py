"""Looking at the user's repository: its facts, and whether a run can work in it."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.util.text import harmless
from santiago.workspace.git import Answer, call, environment
from santiago.workspace.troubles import GONE, trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OLDEST = (2, 38)
"""The first git that merges without a working tree."""
MOST_LISTED = 5000
FALLBACK = ("santiago", "santiago@localhost")
NO_REPOSITORY = "this is not a git repository"


@lean(frozen=True)
class Found:
    """A repository that a run can work in."""

    root: Path
    """Top folder of the working tree that santiago was started in."""
    common: Path
    """The git directory that all working trees of the repository share."""
    objects: Path
    object_format: str
    head: str
    tree: str
    branch: str | None
    """None where HEAD is detached."""
    shallow: bool
    config: dict[str, str]
    """The user's configuration, as git reads it here."""

    @property
    def identity(self) -> tuple[str, str]:
        """Name and address for commits: the user's, where they are set."""
        return _usable(self.config.get("user.name", ""), self.config.get("user.email", ""))


@cache
def _usable(*given: str) -> tuple[str, str]:
    name, mail = (re.sub(r"[\x00-\x1f<>]", "", part) for part in given)
    return (name, mail) if re.search(r"\w", name) and re.search(r"\w", mail) else FALLBACK


def find(repo: Path) -> Found:
    """Return the repository at a path; raise with the remedy if no run can work in it."""
    if not repo.is_dir():
        raise _refused(repo, "there is no such folder", "Check the path.")
    version(repo)  # raises where it is too old
    try:
        bare, common, objects, object_format, shallow = _facts(repo)
    except SantiagoError as error:
        if GONE in error.message:  # no run has begun here, so the message must not speak of one
            raise _refused(repo, NO_REPOSITORY, "Run `git init`, commit what is there, and try again.") from None
        error.where = error.where or str(repo)
        raise
    if bare:
        raise _refused(repo, "a bare repository has no files to work on", "Clone it, and run in the clone.")
    root, head, tree, branch = _commit(repo)
    config = _config(repo)
    return Found(root, Path(common), Path(objects), object_format, head, tree, branch, shallow, config)


def is_dirty(root: Path, but: Sequence[str] = ()) -> bool:
    """Tell whether there are uncommitted changes, apart from some files."""
    return bool(uncommitted(root, but))


def uncommitted(root: Path, but: Sequence[str] = ()) -> str:
    """Return the first path with uncommitted changes, apart from some; empty if there is none. Stops reading there."""
    seen: list[bytes] = []

    def take(piece: bytes) -> bool:
        seen.append(piece)
        return False

    env = environment(home=True) | _without_filters(root)
    others = ("--", ".", *(f":(top,exclude,literal){path}" for path in but)) if but else ()
    call(("status", "--porcelain", "-z", "--ignore-submodules=all", *others), env, root, take=take)
    return harmless(os.fsdecode(b"".join(seen).split(b"\0")[0][3:]))


def not_committed(root: Path) -> tuple[list[str], list[str]]:
    """Return what git ignores, and what it does not know yet, with `/` behind folders of which nothing is committed."""
    asked = ("ls-files", "--others", "--exclude-standard", "--directory", "--no-empty-directory", "-z")
    both = (ask(root, *asked, *more, accept=(0, 128)).out for more in (("--ignored",), ()))
    ignored, new = (os.fsdecode(found).split("\0") for found in both)
    return [name for name in ignored if name][:MOST_LISTED], [name for name in new if name][:MOST_LISTED]


def _without_filters(root: Path) -> dict[str, str]:
    """Return environment variables that keep git from starting any filter."""
    found = ask(root, "config", "--name-only", "-z", "--get-regexp", r"^filter\..*\.", accept=(0, 1))
    names = {name.rpartition(".")[0] for name in os.fsdecode(found.out).split("\0") if name}
    off = {"clean": "", "smudge": "", "process": "", "required": "false"}
    settings = [(f"{name}.{key}", value) for name in sorted(names) for key, value in off.items()]
    numbered = {f"GIT_CONFIG_KEY_{at}": key for at, (key, _) in enumerate(settings)}
    numbered |= {f"GIT_CONFIG_VALUE_{at}": value for at, (_, value) in enumerate(settings)}
    return {**numbered, "GIT_CONFIG_COUNT": str(len(settings))}


def is_ignored(root: Path, path: str) -> bool:
    """Tell whether git ignores a path, so that `git add` would refuse it."""
    return ask(root, "check-ignore", "--quiet", "--", path, accept=(0, 1, 128)).code == 0


def excludes(found: Found) -> bytes:
    """Return the ignore rules that are in no commit: the user's, then the repository's own, which are stronger."""
    named = found.config.get("core.excludesfile")
    settings = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    paths = (Path(named or f"{settings}/git/ignore"), found.common / "info" / "exclude")
    return b"".join(_text(path) for path in paths)


def _text(path: Path) -> bytes:
    try:
        return path.expanduser().read_bytes().rstrip(b"\n") + b"\n"
    except (OSError, RuntimeError):
        return b""  # git takes a missing or unreadable one for empty, too


def ask(
    repo: Path, *arguments: str, accept: Sequence[int] = (0,), take: Callable[[bytes], bool] | None = None
) -> Answer:
    """Ask git about a repository, as its user would."""
    return call(arguments, environment(home=True), repo, accept=accept, take=take)


def version(repo: Path) -> str:
    """Return git's version; raise where it is too old."""
    found = ask(repo, "version").text.removeprefix("git version ")
    numbers = tuple(int(number) for number in re.findall(r"\d+", found)[:2])
    if numbers < OLDEST:
        raise SantiagoError(
            Kind.BLOCKED,
            f"git {found} is too old",
            hint=f"Install git {OLDEST[0]}.{OLDEST[1]} or newer.",
            reason=Reason.BLOCKED_DEPENDENCY,
        )
    return found


def _facts(repo: Path) -> tuple[bool, str, str, str, bool]:
    answer = ask(
        repo, "rev-parse", "--path-format=absolute", "--is-bare-repository", "--git-common-dir", "--git-path", "objects",
        "--show-object-format", "--is-shallow-repository",
    )  # fmt: skip
    lines = os.fsdecode(answer.out).removesuffix("\n").split("\n")
    if len(lines) != 5:
        raise _refused(repo, "its path holds a line break", "Move the repository to a plain path.")
    bare, common, objects, object_format, shallow = lines
    return bare == "true", common, objects, object_format, shallow == "true"


def _commit(repo: Path) -> tuple[Path, str, str, str | None]:
    """Return the top folder, the commit and tree of HEAD, and its branch."""
    query = (
        "rev-parse",
        "--path-format=absolute",
        "--show-toplevel",
        "HEAD^{commit}",
        "HEAD^{tree}",
        "--symbolic-full-name",
        "HEAD",
    )
    answer = ask(repo, *query, accept=(0, 128))
    if answer.code:
        raise _headless(repo, answer.err)
    top, head, tree, name = os.fsdecode(answer.out).removesuffix("\n").split("\n")
    return Path(top), head, tree, name.removeprefix("refs/heads/") if name != "HEAD" else None


def _headless(repo: Path, words: str) -> SantiagoError:
    """Return the error that says why HEAD leads to no commit: there is none yet, or a crash destroyed it."""
    if "must be run in a work tree" in words:
        return _refused(
            repo, "this is inside a git directory, not a working tree", "Run in the folder that holds your files."
        )
    if "unknown revision" not in words and "bad revision" not in words:
        return trouble(("rev-parse",), words)
    branch = _git_path(repo, "HEAD").read_text(encoding="utf-8", errors="replace").strip().removeprefix("ref: ")
    place = _git_path(repo, branch)
    if place.is_file():
        return SantiagoError(
            Kind.BLOCKED, f"{branch} is damaged", where=str(place), reason=Reason.ARTIFACT_CORRUPT,
            hint=f"`git reflog {branch}` shows where it stood; `git update-ref {branch} COMMIT` puts it back.",
        )  # fmt: skip
    return _refused(repo, "there is no commit yet", 'Commit what is there: `git add -A && git commit -m "Start"`.')


def _git_path(repo: Path, name: str) -> Path:
    return Path(
        os.fsdecode(ask(repo, "rev-parse", "--path-format=absolute", "--git-path", name).out).removesuffix("\n")
    )


def _config(repo: Path) -> dict[str, str]:
    entries = ask(repo, "config", "--list", "-z", "--includes").out.decode("utf-8", "backslashreplace").split("\0")
    return {key: value for key, _, value in (entry.partition("\n") for entry in entries) if key}


def _refused(repo: Path, message: str, hint: str) -> SantiagoError:
    return SantiagoError(Kind.INPUT, message, where=str(repo), hint=hint, reason=Reason.INVALID_INPUT)
