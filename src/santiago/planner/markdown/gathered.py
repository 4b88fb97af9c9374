"""What one unit turned out to hold, before it is decided which of it counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from santiago.planner.markdown.criteria import Criteria

if TYPE_CHECKING:
    from santiago.planner.commands import Found
    from santiago.planner.draft import Dep, DraftCriterion, Hint


@dataclass(slots=True)
class Gathered:
    """Everything found inside one unit; the criteria by how they were written, for the harvester to choose from."""

    labelled: Criteria = field(default_factory=Criteria)
    scenarios: Criteria = field(default_factory=Criteria)
    success: Criteria = field(default_factory=Criteria)
    spoken: Criteria = field(default_factory=Criteria)
    """Paragraphs under a criteria label: criteria where no list follows."""
    boxes: Criteria = field(default_factory=Criteria)
    checks: Criteria = field(default_factory=Criteria)
    """Bullets under a verification label that are no mere commands."""
    bullets: Criteria = field(default_factory=Criteria)
    described: Criteria = field(default_factory=Criteria)
    """Bullets under a description: criteria only where the unit has nothing else."""
    keyed: int = 0
    """How many of the bullets are `Key: value`."""
    item_fields: int = 0
    """How many items were fields with a known name."""
    is_section: bool = False
    """The unit is a heading with its section, where a list of `Key: value` is a form more often than criteria."""
    ticked: list[bool] = field(default_factory=list)
    deps: list[Dep] = field(default_factory=list)
    covers: list[Hint] = field(default_factory=list)
    files: list[Hint] = field(default_factory=list)
    verify: list[Hint] = field(default_factory=list)
    unread: list[Hint] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    unknown_labels: list[tuple[int, str]] = field(default_factory=list)

    def take(self, checks: Found) -> None:
        self.verify += checks.taken
        self.unread += checks.left

    @property
    def criteria(self) -> list[DraftCriterion]:
        """The criteria as the author marked them most clearly, without those that were only implied."""
        marked = (self.labelled, self.scenarios, self.spoken, self.success, self.boxes, self.checks)
        return next((criteria.done() for criteria in marked if criteria), [])

    @property
    def implied(self) -> list[DraftCriterion]:
        """The plain bullets, unless every one of them is a field."""
        if self.bullets and self.keyed == len(self.bullets) and self.item_fields > (0 if self.is_section else 1):
            return []
        return (self.bullets or self.described).done()
