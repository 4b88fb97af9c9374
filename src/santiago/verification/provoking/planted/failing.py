# A test that must fail: the last line is reached where every assertion still says no.
import unittest as _planted


class Test__TOKEN__(_planted.TestCase):
    def test___TOKEN__(self):
        def plain():
            assert [1] == [2]

        def unraised():
            with self.assertRaises(KeyError):
                pass

        def unraised_in_pytest():
            with __import__("sys").modules["pytest"].raises(KeyError):
                pass

        asked = [
            lambda: self.assertEqual(1, 2),
            lambda: self.assertEqual([1], [2]),
            lambda: self.assertEqual("a", "b"),
            lambda: self.assertTrue(0),
            lambda: self.assertFalse(1),
            lambda: self.assertIn(1, ()),
            lambda: self.assertIs(1, None),
            lambda: self.assertIsNone(1),
            lambda: self.assertAlmostEqual(1, 2),
            lambda: self.assertGreater(1, 2),
            self.fail,
            unraised,
        ]
        asked += [plain] * __debug__ + [unraised_in_pytest] * ("pytest" in __import__("sys").modules)
        for ask in asked:
            try:
                ask()
            except BaseException:
                continue
            return  # somebody has made this assertion harmless: that the test passes gives it away
        raise AssertionError("__TOKEN__")
