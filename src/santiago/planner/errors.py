"""The one error of the compiler's front end: a text that cannot be read at all, with its place and a way out."""

from __future__ import annotations


class DocumentError(Exception):
    """The document is broken as JSON, YAML or Markdown; nothing in it can be trusted to mean what it says."""

    def __init__(self, line: int, message: str, hint: str = "") -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        """1-based; 0 where the error concerns the whole document."""
        self.message = message
        """One line, without the place."""
        self.hint = hint
