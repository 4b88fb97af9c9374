import unittest

from ledger.money import parse, show


class Money(unittest.TestCase):
    def test_reads_amounts_exactly(self) -> None:
        for text, cents in (("12.50", 1250), ("-3", -300), ("1,204.99", 120499), ("0.29", 29)):
            self.assertEqual(parse(text), cents)

    def test_refuses_what_is_no_amount(self) -> None:
        for text in ("12.345", "abc", ""):
            with self.assertRaisesRegex(ValueError, repr(text)):
                parse(text)

    def test_shows_amounts(self) -> None:
        self.assertEqual(show(120499), "1,204.99")
        self.assertEqual(show(-300), "-3.00")
