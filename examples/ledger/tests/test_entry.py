import unittest

from ledger.entry import entry


class Entries(unittest.TestCase):
    def test_category_is_lower_case(self) -> None:
        made = entry("2026-11-15", 1250, "Food", "lunch")
        self.assertEqual((made.category, made.text, made.day.year), ("food", "lunch", 2026))

    def test_a_date_that_does_not_exist_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            entry("2026-02-30", 1, "x", "y")
