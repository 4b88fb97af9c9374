"""Where the checkouts of a start are, and that no check sees the user's own files instead of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util.text import first, flat
from santiago.workspace import built
from santiago.workspace.editable_installs import blind_to, elsewhere, leads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from santiago.process.place import Dependency, Ground
    from santiago.process.sandbox import Sandbox
    from santiago.workspace.editable_installs import Lead
    from santiago.workspace.workspace import GitWorkspace


def ground_of(
    fence: Sandbox, workspace: GitWorkspace, provided: Sequence[Dependency], names: Sequence[str],
    setup: Sequence[str], commands: Sequence[str], source: Mapping[str, str],
) -> Ground:  # fmt: skip
    """Return the ground; raise if installed packages would make `commands` test the user's own files instead of a checkout."""
    root = workspace.inspect().root
    ground = fence.ground(
        str(root),
        names=names,
        stores=workspace.stores,
        dependencies=provided,
        needed=elsewhere(root, [one.source for one in provided]),
        over=str(workspace.folders.over),
        built=built.caches(workspace.files(workspace.inspect().head), source, workspace.folders.over),
    )
    if ground.seen_there:
        return ground
    # Linked folders must not be written. If there is a set-up, it installs into the checkout instead.
    dependencies = () if setup else ground.dependencies
    found = leads(root, [one.source for one in dependencies], source) if commands else []
    if blind := blind_to(found, commands):
        raise _led_astray(*blind)
    order = dict.fromkeys(lead.first for lead in found if lead.first is not None)
    return replace(ground, dependencies=dependencies, first=tuple(order))


def _led_astray(lead: Lead, command: str) -> SantiagoError:
    deaf = f", and `{first(flat(command), 80)}` ignores PYTHONPATH" if command else ""
    return SantiagoError(
        Kind.BLOCKED,
        f"it leads to {lead.target}, outside the checkout: a check would test those files instead of the work{deaf}",
        where=lead.file,
        hint="Install bubblewrap (Debian: apt-get install bubblewrap), so that checkouts have the repository's own path, or "
        "have setup under [workspace] in santiago.toml install the dependencies in each checkout.",
        reason=Reason.VERIFICATION_UNRUNNABLE,
    )
