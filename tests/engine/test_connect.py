"""From a URL to an engine: whatever is wrong is one sentence with a remedy, and no password is shown or sent in the clear."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from santiago.contract.errors import Kind, SantiagoError
from santiago.engine import connect
from tests.engine.servers import free_port
from tests.engine.tls import certificates, proxy

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.servers import Engine

pytestmark = pytest.mark.xdist_group("queues")

ROOT = "0123456789abcdef0123456789abcdef01234567"


def refused(url: str, kind: Kind, words: str, *, insecure: bool = False) -> SantiagoError:
    with pytest.raises(SantiagoError, match=words) as caught:
        connect.open_queue(url, ROOT, insecure=insecure)
    assert caught.value.kind is kind
    assert caught.value.hint
    assert "\n" not in caught.value.message
    assert "secret" not in f"{caught.value.message}{caught.value.hint}"
    return caught.value


@pytest.mark.parametrize("url", ["redis://user:secret@host/0", "/tmp/secret", "", "temporal", "secret:5432"])
def test_an_unknown_scheme_is_refused_without_showing_the_rest(url: str) -> None:
    if url.startswith(("redis", "temporal")) or not url:
        refused(url, Kind.USAGE, "no engine is named")
    with pytest.raises(SantiagoError) as caught:
        connect.open_queue(url, ROOT)
    assert caught.value.kind is Kind.USAGE


@pytest.mark.parametrize(("scheme", "library", "extra"), [("postgresql", "psycopg", "postgres"), ("temporal", "temporalio", "temporal")])  # fmt: skip
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, scheme: str, library: str, extra: str) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == library or name.startswith(f"santiago.engine.{extra}")]:  # fmt: skip
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    assert f"santiago[{extra}]" in refused(f"{scheme}://127.0.0.1/x", Kind.BLOCKED, "not installed").hint


@pytest.mark.parametrize("url", ["postgresql://santiago:secret@127.0.0.1:{port}/postgres", "temporal://127.0.0.1:{port}/santiago"])  # fmt: skip
def test_a_server_that_is_not_there_is_no_reason_to_give_up_for_ever(url: str) -> None:
    refused(
        url.format(port=free_port()), Kind.TRANSIENT, "does not answer: (connection to .* failed: )?Connection refused$"
    )


def test_a_server_that_takes_a_connection_and_says_nothing_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = pytest.importorskip("santiago.engine.temporal_server")
    monkeypatch.setattr(server, "FIRST_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        refused(f"temporal://127.0.0.1:{silent.getsockname()[1]}/santiago", Kind.TRANSIENT, "does not answer")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://santiago:secret@192.0.2.1/postgres",
        "postgresql://santiago:secret@192.0.2.1/postgres?sslmode=require",
        "postgresql://santiago:secret@192.0.2.1/postgres?sslmode=disable",
        "postgresql://santiago:secret@127.0.0.1,192.0.2.1/postgres?sslmode=prefer",
        "postgresql://santiago:secret@localhost/postgres?hostaddr=192.0.2.1&sslmode=allow",
        "temporal://192.0.2.1:7233/santiago",
        "temporal://192.0.2.1:7233/santiago?tls=false",
    ],
)
def test_what_others_could_read_on_its_way_is_not_sent(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGSSLMODE", "prefer")
    refused(url, Kind.BLOCKED, "without verified TLS")


def test_beyond_this_machine_the_certificate_is_verified_unless_that_was_given_up() -> None:
    server = pytest.importorskip("santiago.engine.postgres_server")
    assert "sslmode=verify-full sslrootcert=system" in server.settled("postgresql://db.example.org/x", insecure=False)
    assert "ssl" not in server.settled("postgresql://db.example.org/x", insecure=True)
    assert "ssl" not in server.settled("postgresql:///x?host=/run/postgresql", insecure=False)
    own = server.settled("postgresql://db.example.org/x?sslrootcert=/own.pem&sslmode=verify-ca", insecure=False)
    assert "/own.pem" in own


@pytest.mark.parametrize(
    "url", ["postgresql://user:%zzsecret@127.0.0.1/x", "postgresql://127.0.0.1/x?secret=1", "temporal://user:secret@h/x",
            "temporal://127.0.0.1/x?tsl=true", "temporal://127.0.0.1:port/x", "temporal://127.0.0.1/x?tls-ca=/not/there"]
)  # fmt: skip
def test_a_url_that_cannot_be_read_is_refused(url: str) -> None:
    refused(url, Kind.USAGE, "URL|TEMPORAL_API_KEY|cannot be read")


def test_a_key_for_temporal_comes_from_the_environment_and_is_sent_over_tls_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = pytest.importorskip("santiago.engine.temporal_server")
    monkeypatch.setenv("TEMPORAL_API_KEY", "secret")
    settings = server.settled("temporal://eu.api.temporal.io:7233/name.account", insecure=False)
    assert settings["api_key"] == "secret"
    assert settings["tls"]
    assert settings["namespace"] == "name.account"
    assert server.settled("temporal://127.0.0.1/x?tls=false", insecure=True)["tls"], "not even where that was given up"


def test_a_url_is_shown_without_its_password() -> None:
    assert (
        connect.shown("postgresql://user:secret@host:5432/name?password=secret") == "postgresql://user@host:5432/name"
    )
    assert connect.shown("postgresql://user:se@cret@host/name") == "postgresql://user@host/name"
    assert connect.shown("temporal://host:7233/name?tls-key=/secret") == "temporal://host:7233/name"
    assert "secret" not in connect.shown("postgresql://[secret")
    assert connect.has_password("postgresql://user:secret@host/name")
    assert connect.has_password("postgresql://host/name?sslPassword=secret")
    assert not connect.has_password("postgresql://user@host:5432/name")
    assert connect.has_password("https://ghp_token@host/shop.git"), "a token by itself"
    assert "token" not in connect.shown("https://ghp_token@host/shop.git")


class TestPostgres:
    """What is wrong with a database."""

    @pytest.fixture
    def url(self, postgres_engine: Engine) -> str:
        """Give a database of its own."""
        import psycopg

        with psycopg.connect(postgres_engine.url, autocommit=True) as connection:
            connection.execute("drop database if exists other with (force)")
            connection.execute("create database other")
            connection.execute("drop role if exists guarded")
            connection.execute("create role guarded login password 'right'")
        return postgres_engine.url.replace("/postgres", "/other")

    def test_its_schema_is_made_once_and_brought_up(self, url: str) -> None:
        import absurdctl
        import psycopg

        from santiago.engine.postgres_server import SCHEMA

        assert absurdctl.ABSURD_SCHEMA_TARGET_VERSION == SCHEMA
        assert "engine init" in refused(url, Kind.BLOCKED, "must be").hint
        assert "was made" in connect.init(url)
        assert "is there" in connect.init(url)
        assert SCHEMA in connect.check(url)
        connect.open_queue(url, ROOT).close()
        version = (
            "create or replace function absurd.get_schema_version() returns text language sql as $$ select '{}' $$"
        )
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(version.format("0.5.0"))
            assert "engine init" in refused(url, Kind.BLOCKED, r"0\.5\.0").hint
            assert "brought from 0.5.0" in connect.init(url)
            connect.open_queue(url, ROOT).close()
            connection.execute(version.format("0.10.0"))
            assert "Update santiago" in refused(url, Kind.BLOCKED, r"0\.10\.0").hint
            with pytest.raises(SantiagoError, match="newer"):
                connect.init(url)

    def test_a_server_that_dies_while_it_is_looked_at_does_not_answer(
        self, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        connect.init(url)
        monkeypatch.setattr("santiago.engine.postgres_server.VERSION", "select pg_terminate_backend(pg_backend_pid())")
        refused(url, Kind.TRANSIENT, "does not answer")

    def test_a_wrong_password_is_told_and_not_shown(self, url: str) -> None:
        connect.init(url)
        refused(url.replace("santiago@", "guarded:secret@"), Kind.BLOCKED, "refuses the connection.*password")
        refused(url.replace("/other", "/none"), Kind.BLOCKED, "refuses the connection.*none")
        assert (
            "$SANTIAGO_ENGINE"
            in refused(url.replace("santiago@", "guarded@"), Kind.BLOCKED, "asks for a password").hint
        )

    def test_missing_rights_are_told(self, url: str) -> None:
        import psycopg

        theirs = url.replace("santiago@", "guarded:right@")
        with pytest.raises(SantiagoError, match="cannot be made") as caught:
            connect.init(theirs)
        assert "GRANT CREATE" in caught.value.hint
        connect.init(url)
        assert "GRANT" in refused(theirs, Kind.BLOCKED, "guarded may not use").hint
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("grant usage on schema absurd to guarded")
            assert "GRANT" in refused(theirs, Kind.BLOCKED, "guarded may not make").hint
            connection.execute("grant create, usage on schema absurd to guarded")
            connection.execute("grant all on all tables in schema absurd to guarded")
            connect.open_queue(theirs, ROOT).close()
            connection.execute("drop owned by guarded")

    @pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is missing: apt-get install openssl")
    def test_its_certificate_is_verified(self, url: str, postgres_engine: Engine, tmp_path: Path) -> None:
        connect.init(url)
        certificates(tmp_path)
        with proxy(tmp_path, postgres_engine.server.port, protocol="postgresql") as port:
            base = f"postgresql://santiago@localhost:{port}/other?sslnegotiation=direct&sslmode=verify-full"
            connect.open_queue(f"{base}&sslrootcert={tmp_path}/ca.pem", ROOT).close()
            refused(f"{base}&sslrootcert=system", Kind.BLOCKED, "certificate")
            by_address = f"{base.replace('localhost', '127.0.0.1')}&sslrootcert={tmp_path}/ca.pem"
            refused(by_address, Kind.BLOCKED, "certificate")


class TestTemporal:
    """What is wrong with a namespace."""

    def test_its_namespace_is_made_once_and_keeps_what_ended_long_enough(self, temporal_engine: Engine) -> None:
        base = temporal_engine.url.rpartition("/")[0]
        assert "engine init" in refused(f"{base}/missing", Kind.BLOCKED, "no namespace 'missing'").hint
        assert "engine init" in refused(f"{base}/default", Kind.BLOCKED, "forgets").hint
        assert "was there" in connect.init(f"{base}/default")
        assert "30 days" in connect.init(f"{base}/default")
        assert "30 days" in connect.check(f"{base}/default")
        connect.open_queue(f"{base}/default", ROOT).close()

    def test_another_kind_of_server_does_not_answer(self, temporal_engine: Engine, postgres_engine: Engine) -> None:
        here = "postgresql://santiago@127.0.0.1:{}/x", "temporal://127.0.0.1:{}/x"
        for url, other in zip(here, (temporal_engine, postgres_engine), strict=True):
            error = refused(url.format(other.server.port), Kind.TRANSIENT, "does not answer")
            assert "{" not in error.message

    @pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is missing: apt-get install openssl")
    def test_certificates_are_verified_on_both_ends(self, temporal_engine: Engine, tmp_path: Path) -> None:
        certificates(tmp_path)
        with proxy(tmp_path, temporal_engine.server.port, protocol="h2", demands_client=True) as port:
            base = f"temporal://localhost:{port}/santiago?tls=true"
            ours = f"&tls-cert={tmp_path}/client.pem&tls-key={tmp_path}/client.key"
            connect.open_queue(f"{base}&tls-ca={tmp_path}/ca.pem{ours}", ROOT).close()
            refused(f"{base}{ours}", Kind.BLOCKED, "certificate")
            with pytest.raises(
                SantiagoError, match=r"CertificateRequired|does not answer"
            ):  # as far as the server got to say why
                connect.open_queue(f"{base}&tls-ca={tmp_path}/ca.pem", ROOT)
            named = f"{base.replace('localhost', '127.0.0.1')}&tls-ca={tmp_path}/ca.pem{ours}&tls-name=localhost"
            connect.open_queue(named, ROOT).close()


def test_a_command_that_spoke_to_temporal_ends_whole_and_lets_python_take_nothing_apart() -> None:
    """The library's threads may answer later than that. It crashed now and then: exit code -11 after work that had ended well."""
    pytest.importorskip("temporalio")
    lines = (
        "import atexit, sys, temporalio.client",
        "from santiago.cli.entry import entry",
        "atexit.register(print, 'apart')",
    )
    told = [
        subprocess.run([sys.executable, "-c", "\n".join([*some, "entry()"]), "explain", "unproven"], capture_output=True, text=True)
        for some in (lines, (lines[0].rpartition(",")[0], *lines[1:]))
    ]  # fmt: skip
    assert [one.returncode for one in told] == [0, 0]
    assert told[1].stdout == told[0].stdout + "apart\n", "the same is printed, whole"
