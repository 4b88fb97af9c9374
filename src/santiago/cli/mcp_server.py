"""`santiago mcp`: the MCP server, where its library is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError

if TYPE_CHECKING:
    from pathlib import Path


def mcp(repo: Path | None) -> None:
    """Serve until the client closes the connection."""
    try:
        from santiago.mcp.server import serve  # its library takes much longer to load than everything else
    except ImportError as error:
        message = f"the MCP server needs what is not installed: {error}"
        raise SantiagoError(Kind.USAGE, message, hint="Install it: pip install 'santiago[mcp]'.") from None
    serve(repo)
