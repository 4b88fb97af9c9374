"""The profiles of agents as the commands know them: those that ship with santiago, and the user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.agent.catalog import Catalog
from santiago.agent.profile import ACP
from santiago.contract.errors import SantiagoError

if TYPE_CHECKING:
    from santiago.agent.profile import Profile


def own_catalog() -> Catalog:
    """Return the profiles that ship with santiago and those in the user's configuration."""
    from platformdirs import user_config_path

    return Catalog(user_config_path("santiago") / "agents")


def understood(name: str) -> Profile:
    """Return the profile that reads an agent's output; if the name is unknown, the profile for any program."""
    own = own_catalog()
    try:
        return own.get("acp" if name.startswith(ACP) else name)
    except SantiagoError:
        return own.get("command")
