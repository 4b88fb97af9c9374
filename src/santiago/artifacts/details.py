"""The files of detailed plans: `details/<story>/<n>.json` and `.md`, with the prompt and the log of the agent that wrote it."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from santiago.artifacts.file_errors import corrupt
from santiago.artifacts.names import DETAILS, FILES
from santiago.contract import codec
from santiago.contract.plan import Detail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.artifacts.store import FileStore
    from santiago.contract.steps import DetailRef


class FileDetails:
    """Detailed plans in one run's out-dir."""

    def __init__(self, store: FileStore) -> None:
        self.store = store

    def log_path(self, story: str, number: int) -> str:
        return str(self.store.path / f"{DETAILS}/{story}/{number}.log")

    def prompt_path(self, story: str, number: int) -> str:
        return str(self.store.path / f"{DETAILS}/{story}/{number}.prompt.md")

    def begun(self, story: str, number: int) -> bool:
        """Tell whether the agent that is to write a proposal may have been started."""
        return self.store.get(f"{DETAILS}/{story}/{number}.prompt.md") is not None

    def keep_prompt(self, story: str, number: int, prompt: str) -> None:
        self.store.put(f"{DETAILS}/{story}/{number}.prompt.md", prompt.encode())

    def keep(self, story: str, number: int, detail: Detail | None, text: str) -> tuple[str, str]:
        """Write a proposal as JSON and as readable text; return the digests of the JSON and of the list of its files."""
        folder = f"{DETAILS}/{story}"
        files = {f"{number}.md": text.encode("utf-8", "backslashreplace")}
        if detail is not None:
            files[f"{number}.json"] = codec.canonical(detail)
        files = {name: self.store.harmless(name, content) for name, content in files.items()}
        digests = {name: sha256(content).hexdigest() for name, content in files.items()}
        for name in (f"{number}.log", f"{number}.prompt.md"):
            if found := self.store.digest(f"{folder}/{name}"):
                digests[name] = found
        listing = codec.canonical(digests)
        files[f"{number}.{FILES}"] = listing
        self.store.put_many(folder, files, sync=tuple(files), clean=tuple(files))
        return digests.get(f"{number}.json", ""), sha256(listing).hexdigest()

    def check(self, refs: Sequence[DetailRef]) -> None:
        """Raise if one of these detailed plans is not what the log says."""
        for ref in refs:
            self.get(ref)

    def get(self, ref: DetailRef) -> Detail:
        """Return a detailed plan; raise if its digest differs from the one in the log."""
        path = f"{DETAILS}/{ref.story}/{ref.revision}.json"
        content = self.store.get(path)
        if content is None or sha256(content).hexdigest() != ref.digest:
            message = (
                "this detailed plan was changed after it was approved" if content else "the detailed plan is missing"
            )
            raise corrupt(
                self.store.path / path, message, hint="Put the file back as it was; `santiago audit` says more."
            )
        return codec.decode(Detail, content, path)
