import unittest

from ledger.entry import entry
from ledger.report import report


class Report(unittest.TestCase):
    def test_sums_the_categories_of_one_month(self) -> None:
        entries = [
            entry("2026-11-01", 300000, "salary", "x"),
            entry("2026-11-02", -1250, "food", "x"),
            entry("2026-11-03", -750, "food", "x"),
            entry("2026-10-03", -99, "food", "another month"),
        ]
        lines = [line.split() for line in report(entries, "2026-11").splitlines()]
        self.assertEqual(lines, [["food", "-20.00"], ["salary", "3,000.00"], ["balance", "2,980.00"]])
