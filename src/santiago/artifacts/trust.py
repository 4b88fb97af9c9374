"""Which settings or commands of a repository a person has trusted. This is kept in the user's state folder, which no repository can write."""

from __future__ import annotations

import contextlib
import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from santiago.artifacts.files import read_json, write_whole
from santiago.artifacts.registry import common_git_dir
from santiago.util.disk import guarding

_LARGEST = 4 << 20
"""Largest note that is read, in bytes: four times the largest settings file."""


class Trust:
    """What is trusted of one repository, for all its worktrees. Each digest has its own file, so two writers at once lose nothing.

    Settings have no `kind`. Other things that are trusted have one, and are kept apart.
    """

    def __init__(self, root: Path, kind: str = "") -> None:
        from platformdirs import user_state_path

        self._repository = os.path.realpath(common_git_dir(root) or root / ".git")
        name = sha256(os.fsencode(self._repository)).hexdigest()[:32]
        self.folder = user_state_path("santiago") / "trust" / name / kind

    def has(self, digest: str) -> bool:
        """Tell whether settings with this digest were trusted here."""
        note = read_json(self._note(digest), _LARGEST)
        return isinstance(note, dict) and note.get("repository") == self._repository

    def add(self, digest: str, settings: dict[str, Any]) -> None:
        """Trust settings. The note also holds the settings, for people to read."""
        note = {"repository": self._repository, "settings": settings}
        self._make(self.folder)
        write_whole(
            self._note(digest), json.dumps(note, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        )

    def latest(self) -> dict[str, Any] | None:
        """Return the settings that were trusted last; None if none were."""
        with contextlib.suppress(OSError):
            notes = sorted(self.folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
            note = read_json(notes[-1], _LARGEST) if notes else None
            settings = note.get("settings") if isinstance(note, dict) else None
            return settings if isinstance(settings, dict) else None
        return None

    def basis(self, run_id: str) -> str | None:
        """Return the digest of the untrusted settings that a run's input was made from; None if there is none."""
        note = read_json(self._run(run_id), _LARGEST)
        return note if isinstance(note, str) else None

    def rests_on(self, run_id: str, digest: str | None) -> None:
        """Note that a run's input was made from settings that nobody has trusted yet; with None, remove that note."""
        if digest is None:
            with guarding(self._run(run_id)), contextlib.suppress(FileNotFoundError):
                self._run(run_id).unlink()
            return
        self._make(self._run(run_id).parent)
        write_whole(self._run(run_id), json.dumps(digest).encode())

    def _note(self, digest: str) -> Path:
        return self.folder / f"{digest}.json"

    def _run(self, run_id: str) -> Path:
        return self.folder / "runs" / run_id

    def _make(self, folder: Path) -> None:
        with guarding(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
