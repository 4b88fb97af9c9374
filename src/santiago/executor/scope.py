"""What one start of a run may touch."""

from __future__ import annotations

from collections.abc import Mapping

from santiago.contract.record import record
from santiago.contract.state import StoryState


@record
class Scope:
    """What this start may touch: chunks from one to another, or single stories."""

    chunks: frozenset[str] | None = None
    stories: frozenset[str] | None = None
    claims: Mapping[str, int] | None = None
    """Only for work from the board: how many counted attempts each claimed story may have. A story without a claim has none."""
    blocked: frozenset[str] = frozenset()
    """Only for work from the board: stories whose tickets are blocked."""

    @property
    def is_empty(self) -> bool:
        """Whether no story may begin."""
        return (self.stories is not None and not self.stories) or (self.claims is not None and not self.claims)

    def allows(self, story: StoryState) -> bool:
        if self.claims is not None and story.counted >= self.claims.get(story.id, 0):
            return False
        in_chunk = self.chunks is None or story.chunk in self.chunks
        return in_chunk and (self.stories is None or bool({story.id, story.parent} & self.stories))
