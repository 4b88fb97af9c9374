"""Reaching PostgreSQL, and having absurd's schema there. Whatever is wrong is one sentence, before anything starts."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row

from santiago.contract.errors import Kind, SantiagoError
from santiago.engine.place import away, is_local, plain_text, refused

if TYPE_CHECKING:
    from collections.abc import Iterator

Row = dict[str, Any]

SCHEMA = "0.5.1"
"""Version of absurd's schema. Some of its tables are read directly, so any other is refused."""
VERIFIED = ("verify-full", "verify-ca")
VERSION = "select absurd.get_schema_version() as version"
RIGHTS = """
    select coalesce(has_schema_privilege('absurd', 'USAGE') and has_schema_privilege('absurd', 'CREATE')
      and has_table_privilege('absurd.queues', 'INSERT')
      and bool_and(has_table_privilege(oid, 'SELECT') and has_table_privilege(oid, 'INSERT')
        and has_table_privilege(oid, 'UPDATE') and has_table_privilege(oid, 'DELETE')), false) as granted, current_user as me
    from pg_class where relnamespace = to_regnamespace('absurd') and relkind in ('r', 'p')"""
PASSING = ("starting up", "shutting down", "not yet accepting", "recovery", "too many", "slots")
"""What a server says that will answer later."""
LOST = (psycopg.OperationalError, psycopg.InterfaceError)
"""Errors of a connection that is no more."""
OURS = 5207011813
"""Number of the lock under which the schema is made."""


def settled(url: str, *, insecure: bool) -> str:
    """Return the connection's settings. Beyond this machine they demand TLS with a certificate that is verified."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # its words may hold the password
        hint = "Write it as postgresql://USER@HOST/DATABASE, special characters of the password percent-encoded."
        raise SantiagoError(Kind.USAGE, "the engine's URL is not one of PostgreSQL's", hint=hint) from None
    hosts = str(given.get("hostaddr") or given.get("host") or os.environ.get("PGHOST", ""))
    if not insecure and not all(host.startswith(("/", "@")) or is_local(host) for host in hosts.split(",")):
        mode = given.setdefault("sslmode", os.environ.get("PGSSLMODE", "verify-full"))
        if mode not in VERIFIED:
            raise plain_text(f"sslmode={mode}", "sslmode=verify-full")
        if not os.environ.get("PGSSLROOTCERT"):
            given.setdefault("sslrootcert", "system")
    return make_conninfo("", **given)


def connect(settings: str) -> psycopg.Connection[Row]:
    """Connect. Nothing is prepared, so that a pooler may stand between."""
    return psycopg.connect(
        settings, autocommit=True, connect_timeout=5, prepare_threshold=None, application_name="santiago", row_factory=dict_row
    )  # fmt: skip


@contextmanager
def reach(settings: str) -> Iterator[psycopg.Connection[Row]]:
    """Connect for the first time, and say in one sentence why that is not possible, or ended."""
    with _reached(settings) as connection:
        try:
            yield connection
        except LOST as error:
            raise silent(error) from None


def _reached(settings: str) -> psycopg.Connection[Row]:
    try:
        return connect(settings)
    except psycopg.Error as error:
        words = first_line(error).rpartition(" failed: ")[2]
        if "no password supplied" in words:
            hint = (
                "Put a URL with the password into $SANTIAGO_ENGINE, or into a file that only you can read: file:PATH."
            )
            raise refused("PostgreSQL asks for a password, and the URL holds none", hint) from None
        if "FATAL:" in words and not any(passing in words for passing in PASSING):
            hint = "Correct user, password or database in the URL, or grant what the server says."
            raise refused(f"PostgreSQL refuses the connection: {words.removeprefix('FATAL:').strip()}", hint) from None
        if any(word in words for word in ("certificate", "SSL", "root.crt")) and "invalid response" not in words:
            hint = "Name the certificate of its authority by sslrootcert=FILE in the URL, or have the server use TLS."
            raise refused(f"PostgreSQL's TLS is not what is asked for: {words}", hint) from None
        raise silent(error) from None


def silent(error: Exception) -> SantiagoError:
    return away("PostgreSQL", first_line(error).removeprefix("connection failed: "))


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["no answer"])[0].strip()


def check(settings: str) -> str:
    """Say what was found; raise if orders could not be put and claimed there."""
    with reach(settings) as connection:
        found = _version(connection)
        if found != SCHEMA:
            hint = "Run `santiago engine init` with this URL."
            if found and _numbers(found) > _numbers(SCHEMA):
                hint = "Update santiago on this machine."
            raise refused(f"the schema of absurd must be {SCHEMA}, and this database has {found or 'none'}", hint)
        rights = connection.execute(RIGHTS).fetchall()[0]
        if not rights["granted"]:
            hint = "Grant it the role that ran `santiago engine init`: GRANT owner TO user."
            raise refused(f"{rights['me']} may not make and change tables in the schema absurd", hint)
        server = connection.info.server_version // 10000
        return f"PostgreSQL {server}, schema of absurd {found}; the role {rights['me']} has the rights"


def _version(connection: psycopg.Connection[Row]) -> str:
    try:
        return str(connection.execute(VERSION).fetchall()[0]["version"])
    except (psycopg.errors.InvalidSchemaName, psycopg.errors.UndefinedFunction):
        return ""
    except psycopg.errors.InsufficientPrivilege:
        hint = "Grant it the role that ran `santiago engine init`: GRANT owner TO user."
        raise refused(f"{connection.info.user} may not use the schema absurd", hint) from None


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal()]


def init(settings: str) -> str:
    """Make the schema, or bring an older one up; say what was done. All of it or nothing, and one at a time."""
    import absurdctl

    with reach(settings) as connection, connection.transaction():
        connection.execute("select pg_advisory_xact_lock(%s)", [OURS])
        found = _recorded(connection)
        if found == SCHEMA:
            return f"the schema of absurd {SCHEMA} is there"
        steps = (
            absurdctl.resolve_migration_path(found, SCHEMA, absurdctl.discover_bundled_migrations()) if found else []
        )
        if steps is None:
            raise refused(f"the schema of absurd is {found}, newer than {SCHEMA}", "Update santiago on this machine.")
        try:
            for text in [step["sql"] for step in steps] or [absurdctl.BUNDLED_SCHEMA_SQL]:
                connection.execute(text.encode())
        except psycopg.errors.InsufficientPrivilege as error:
            hint = "Run it as a user that may create schemas: GRANT CREATE ON DATABASE name TO user."
            raise refused(f"the schema cannot be made: {first_line(error)}", hint) from None
        except psycopg.Error as error:
            hint = "If an older absurd is there: `absurdctl migrate --from VERSION`; see whether its tables are in use."
            raise refused(f"the schema cannot be made: {first_line(error)}", hint) from None
        return f"the schema of absurd was {f'brought from {found} to' if found else 'made, version'} {SCHEMA}"


def _recorded(connection: psycopg.Connection[Row]) -> str:
    there = connection.execute("select to_regprocedure('absurd.get_schema_version()') is not null as there").fetchall()
    return _version(connection) if there[0]["there"] else ""
