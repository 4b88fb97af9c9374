"""The seal of a plan: the digest of its content. It shows whether a plan was edited afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract import codec

if TYPE_CHECKING:
    from santiago.contract.plan import Plan


def sealed(plan: Plan) -> Plan:
    """Return the plan with the digest of all its other fields."""
    return replace(plan, digest=plan_digest(plan))


def plan_digest(plan: Plan) -> str:
    data = codec.to_data(plan)
    del data["digest"]
    return codec.digest(data)
