"""The git remote that a coordinator shares with its workers: its address, and the git commands that reach it.

It is not trusted. No hook, filter or setting of a repository takes part; only what the user's own configuration says of
reaching servers does (credentials, proxies). A password is handed to git by its environment, so nobody reads it in a list
of processes, and no message of git can show it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit, urlunsplit

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.reasons import Reason
from santiago.workspace.git import call, environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from santiago.workspace.git import Answer

SECONDS = 3600.0
"""How long a transfer may take. A connection on which nothing moves ends earlier."""
_NAME = "santiago-remote"
_SCHEMES = ("https", "ssh", "file", "http", "git")
_OPEN = ("http", "git")
"""Schemes that encrypt nothing."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SHORT = pattern(r"(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?!:).+")
"""`git@host:path`, which means ssh."""
_REACHING = (
    "SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
)  # fmt: skip
_SSH = "ssh -o BatchMode=yes -o ServerAliveInterval=15 -o ServerAliveCountMax=4"
_HELPER = '!printf \'username=%s\\npassword=%s\\n\' "$SANTIAGO_REMOTE_USER" "$SANTIAGO_REMOTE_PASSWORD"; :'
_SETTINGS = {
    "fetch.recurseSubmodules": "no", "push.recurseSubmodules": "no", "push.followTags": "false", "push.gpgSign": "false",
    "fetch.unpackLimit": "1", "core.askPass": "", "http.lowSpeedLimit": "100", "http.lowSpeedTime": "60",
}  # fmt: skip
_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules")


class Remote:
    """One remote, by its address."""

    def __init__(self, address: str, *, insecure: bool = False) -> None:
        self.shown, self._user, self._password = _read(address, insecure)
        """The address without a password is what people see, and what git gets."""

    def refs(self, env: Mapping[str, str], folder: Path, *patterns: str) -> dict[str, str]:
        """Return the refs of these patterns, with their commits."""
        lines = self._run(("ls-remote", "--refs", "--", _NAME, *patterns), env, folder).text.splitlines()
        return {name: commit for commit, _, name in (line.partition("\t") for line in lines)}

    def fetch(
        self, env: Mapping[str, str], folder: Path, wanted: Sequence[str], *, most: int = 0, doubted: bool = True
    ) -> None:
        """Fetch commits by their names. What is `doubted` is looked through by git, and has at most so many bytes."""
        checks = {"fetch.fsckObjects": "true"} if doubted else {}
        limit = ("sh", "-c", f'ulimit -f {most // 512}; exec "$@"', "sh") if most else ()
        self._run((*_FETCH, "--", _NAME, *wanted), env, folder, checks, limit)

    def push(
        self, env: Mapping[str, str], folder: Path, refspecs: Sequence[str], leases: Sequence[str] = ()
    ) -> dict[str, str]:
        """Move refs, all or none, and return those that were refused, with the reason. A lease is `ref:expected`."""
        held = (f"--force-with-lease={lease}" for lease in leases)
        words = ("push", "--porcelain", "--atomic", "--no-verify", "--no-signed", *held, "--", _NAME, *refspecs)
        lines = self._run(words, env, folder, accept=(0, 1)).text.splitlines()
        refused = (line.split("\t") for line in lines if line.startswith("!\t"))
        return {between.rpartition(":")[2]: why for _, between, why in refused}

    def refuse_unwritable(self, env: Mapping[str, str], folder: Path, ref: str) -> None:
        """Raise if this account may not push. Nothing is sent, so a hook on the server that refuses a ref is not heard."""
        self._run(("push", "--dry-run", "--quiet", "--no-verify", "--", _NAME, f"HEAD:{ref}"), env, folder)

    def _run(
        self,
        words: Sequence[str],
        env: Mapping[str, str],
        folder: Path,
        settings: Mapping[str, str] | None = None,
        within: Sequence[str] = (),
        accept: Sequence[int] = (0,),
    ) -> Answer:
        try:
            answer = call(
                words, {**env, **self._env(settings or {})}, folder, accept=accept, seconds=SECONDS, within=within
            )
        except SantiagoError as error:
            raise self._trouble(words[0], error.message) from None
        if answer.code and not any(line.startswith("!\t") for line in answer.text.splitlines()):
            raise self._trouble(words[0], next(iter(answer.err.strip().splitlines()), "no word why"))
        return answer

    def _env(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Return git's environment for this remote. Settings stand in it rather than in arguments, which everybody can read."""
        found = environment(home=True) | {name: os.environ[name] for name in _REACHING if name in os.environ}
        found["GIT_SSH_COMMAND"] = os.environ.get("GIT_SSH_COMMAND", _SSH)
        found["GIT_ALLOW_PROTOCOL"] = ":".join(_SCHEMES)
        all_settings = {**_SETTINGS, **settings, f"remote.{_NAME}.url": self.shown}
        if self._password:
            found |= {"SANTIAGO_REMOTE_USER": self._user, "SANTIAGO_REMOTE_PASSWORD": self._password}
            all_settings["credential.helper"] = _HELPER
        for number, (key, value) in enumerate(all_settings.items()):
            found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return found | {"GIT_CONFIG_COUNT": str(len(all_settings))}

    def _trouble(self, verb: str, words: str) -> SantiagoError:
        doing: Literal["written to", "read"] = "written to" if verb == "push" else "read"
        said = words.replace(self._password, "…") if self._password else words
        return SantiagoError(
            Kind.TRANSIENT, f"the remote cannot be {doing}: {said}", where=self.shown, reason=Reason.IO_ERROR,
            hint="See that this machine reaches it and may read and write it (`git ls-remote` tells), then try again.",
        )  # fmt: skip


def _read(address: str, insecure: bool) -> tuple[str, str, str]:
    """Return an address without its password, the user and the password; raise if it is none that santiago uses."""
    if not address or address.startswith("-") or not address.isprintable() or "::" in address.partition("/")[0]:
        raise _refused("this is no address of a git remote", "Write https://…, ssh://…, git@host:path or a path.")
    if "://" not in address:
        if not (address.startswith("/") or _SHORT.fullmatch(address)):
            raise _refused("this is no address of a git remote", "Write a path in full, from `/` on.", address)
        return address, "", ""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        raise _refused("this is no address of a git remote", "Correct it.") from None
    place = parts.netloc.rpartition("@")[2]
    if parts.scheme not in _SCHEMES or host.startswith("-") or (parts.scheme != "file" and not host):
        raise _refused("git remotes of this kind are not used", f"Use one of {', '.join(_SCHEMES)}.", place)
    if parts.scheme in _OPEN and host not in _LOOPBACK and not insecure:
        raise _refused("this remote is reached in plain text", "Use https or ssh, or say --insecure.", place)
    password = unquote(parts.password or "")
    user = unquote(parts.username or "")
    if password and parts.scheme not in ("https", "http"):
        raise _refused("a password in this address would not be used", "Leave it out; ssh has its keys.", place)
    kept = f"{parts.username}@{place}" if parts.username and not password else place
    return urlunsplit((parts.scheme, kept, parts.path, "", "")), user, password


def _refused(message: str, hint: str, where: str = "") -> SantiagoError:
    return SantiagoError(Kind.INPUT, message, hint=hint, where=where, reason=Reason.INVALID_INPUT)
