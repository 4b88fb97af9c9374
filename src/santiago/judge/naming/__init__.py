"""The result of each test of a check, by its id: how runners are made to name their tests, and how that is read."""

from santiago.judge.naming.ids import INSIDE, Tests, file_of, function_of, name_of
from santiago.judge.naming.junit import UnreadError
from santiago.judge.naming.reading import named, tally
from santiago.judge.naming.start import asking, refused

__all__ = ["INSIDE", "Tests", "UnreadError", "asking", "file_of", "function_of", "name_of", "named", "refused", "tally"]
