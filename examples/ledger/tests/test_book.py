import tempfile
import unittest
from pathlib import Path

from ledger.book import append, read
from ledger.entry import entry


class Book(unittest.TestCase):
    def test_what_is_written_is_read_back(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "book.tsv"
            made = entry("2026-11-15", -120499, "rent", "November")
            append(path, made)
            self.assertEqual(read(path), ([made], []))

    def test_a_damaged_line_is_reported_and_the_rest_kept(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "book.tsv"
            append(path, entry("2026-11-15", 100, "a", "b"))
            path.write_text(path.read_text() + "damaged\n")
            append(path, entry("2026-11-16", 200, "a", "b"))
            entries, damaged = read(path)
            self.assertEqual((len(entries), damaged), (2, [2]))
