"""Home folders in which the agents find their settings: the model on this machine, nothing that calls elsewhere."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from tests.agents.install import PROGRAMS, cache

KEY = "sk-loopback-0123456789abcdef"
"""No service knows it; it looks like a secret, and must be found nowhere afterwards."""
TOKEN = f"sk-ant-oat01-{KEY}"
"""Signed in by subscription: the only way in which Claude Code says when a rate limit ends."""


@contextmanager
def home(name: str, url: str) -> Iterator[dict[str, str]]:
    """Make an agent's home folder; yield the environment that leads to it."""
    cache().mkdir(parents=True, exist_ok=True)
    folder = Path(mkdtemp(prefix="home-", dir=cache()))  # codex wants it outside the temporary folder
    try:
        yield {"HOME": str(folder), **_SETTLED[PROGRAMS[name].home or name](folder, url)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _claude(folder: Path, url: str) -> dict[str, str]:
    _write(folder / ".claude" / "settings.json", "{}")
    _write(folder / ".claude.json", "{}")
    return {"ANTHROPIC_BASE_URL": url, "CLAUDE_CODE_OAUTH_TOKEN": TOKEN}


CODEX = """\
model = "gpt-5.5"
model_provider = "loopback"
check_for_update_on_startup = false

[model_providers.loopback]
name = "Loopback"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[features]
plugins = false
remote_plugin = false
apps = false
plugin_discovery_prefetch = false
"""


def _codex(folder: Path, url: str) -> dict[str, str]:
    _write(folder / ".codex" / "config.toml", CODEX.format(url=url))
    return {"OPENAI_API_KEY": KEY}


def _opencode(folder: Path, url: str) -> dict[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Loopback",
        "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
        "models": {"m1": {"name": "m1", "limit": {"context": 200_000, "output": 8_000}}},
    }
    settings = {"provider": {"loopback": provider}, "model": "loopback/m1", "small_model": "loopback/m1"}
    _write(folder / ".config" / "opencode" / "opencode.json", json.dumps(settings))
    for place in (".local/share", ".local/state", ".cache"):
        (folder / place / "opencode").mkdir(parents=True)
    return {}


def _gemini(folder: Path, url: str) -> dict[str, str]:
    settings = {
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "maxAttempts": 2},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "model": {"name": "gemini-2.5-pro"},
    }
    _write(folder / ".gemini" / "settings.json", json.dumps(settings))
    return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


_SETTLED: dict[str, Callable[[Path, str], dict[str, str]]] = {
    "claude": _claude,
    "codex": _codex,
    "opencode": _opencode,
    "gemini": _gemini,
}
