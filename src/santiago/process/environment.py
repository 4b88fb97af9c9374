"""Which variables a foreign program sees: an allow-list, and no secret unless it was named for this program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.lazy_regex import pattern
from santiago.process.redact import is_secret, secrets_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ALLOWED = (
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM TZ COLUMNS LINES"
    # where the network and its certificates are
    " HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY FTP_PROXY http_proxy https_proxy no_proxy all_proxy"
    " SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS GIT_SSL_CAINFO NIX_SSL_CERT_FILE"
    # where toolchains live; VIRTUAL_ENV is santiago's own and PATH names the project's
    " PYENV_ROOT RUSTUP_HOME RUSTUP_TOOLCHAIN CARGO_HOME GOPATH GOROOT GOPROXY GOFLAGS GOTOOLCHAIN JAVA_HOME MAVEN_HOME"
    " GRADLE_HOME NVM_DIR NVM_BIN VOLTA_HOME FNM_DIR PNPM_HOME BUN_INSTALL DENO_INSTALL RBENV_ROOT GEM_HOME GEM_PATH ASDF_DIR"
    " ASDF_DATA_DIR MISE_DATA_DIR SDKMAN_DIR DOTNET_ROOT ANDROID_HOME ANDROID_SDK_ROOT NIX_PATH NIX_PROFILES LOCALE_ARCHIVE"
    " XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_DATA_DIRS XDG_CONFIG_DIRS"
)
_PLAIN = frozenset(_ALLOWED.split())
_FAMILIES = ("LC_", "PIP_", "UV_")
_CREDENTIALS_IN_URL = pattern(r"://[^/@\s]*:[^/@\s]+@")
OWN_TEMPORARY = "/tmp"  # noqa: S108  # the name inside a sandbox, where it is private


def own(run: str, story: str, attempt: int, plan_dir: str, prompt_file: str) -> dict[str, str]:
    """Return the variables that santiago itself gives to agents and checks."""
    return {
        "SANTIAGO_RUN": run,
        "SANTIAGO_STORY": story,
        "SANTIAGO_ATTEMPT": str(attempt),
        "SANTIAGO_PLAN_DIR": plan_dir,
        "SANTIAGO_PROMPT_FILE": prompt_file,
    }


def for_checks(
    source: Mapping[str, str], names: Iterable[str] = (), given: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the variables for checks and set-up commands: the allow-list and the named ones, but never a secret."""
    named = set(names)
    secrets = secrets_in(dict(source))
    found = {
        name: value
        for name, value in _allowed(source, named).items()
        if not _is_secret(name, value, secrets) and (name in named or not _CREDENTIALS_IN_URL.search(value))
    }
    return {**found, "TERM": "dumb", **(given or {})}


def for_agent(source: Mapping[str, str], names: Iterable[str] = (), profile: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables for an agent. Secrets are included only if its profile names them."""
    listed = set(profile)
    secrets = secrets_in(dict(source))
    return {
        name: value
        for name, value in _allowed(source, listed | set(names)).items()
        if name in listed or not _is_secret(name, value, secrets)
    }


def _allowed(source: Mapping[str, str], named: set[str]) -> dict[str, str]:
    found = {
        name: value for name, value in source.items() if name in _PLAIN or name.startswith(_FAMILIES) or name in named
    }
    if "PATH" in found:  # without relative entries, since an agent could put its own programs there
        found["PATH"] = ":".join(entry for entry in found["PATH"].split(":") if entry.startswith("/"))
    return found


def _is_secret(name: str, value: str, secrets: tuple[str, ...]) -> bool:
    return is_secret(name) or any(secret in value for secret in secrets)
