"""The error for a document that cannot be read at all."""

from __future__ import annotations


class DocumentError(Exception):
    """The document is not valid JSON, YAML or Markdown, so nothing in it can be relied on."""

    def __init__(self, line: int, message: str, hint: str = "") -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        """1-based; 0 if the error concerns the whole document."""
        self.message = message
        """One line, without the line number."""
        self.hint = hint
