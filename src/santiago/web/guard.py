"""The guard before every page. Other programs of this machine reach the port, the agents of a run too, so all is refused that is not
a person's own browser at the address that was printed on the terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse

from santiago.contract.record import lean, record
from santiago.web.access import is_same

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from santiago.web.access import Access, Session

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "cache-control": "no-store",
    # Not `no-referrer`: with that a browser gives the origin of a form as `null`. No other site gets a referrer.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
CLEAR = '"cache", "storage"'
"""Whoever had this port before may have left a worker in the browser. It ends here."""
LARGEST = 512 * 1024
"""Bytes of one form. The longest answer fits, however its letters are written."""
MOST_FIELDS = 40
ENTER, STATIC = "/enter/", "/static/"
FORM = "application/x-www-form-urlencoded"


@record
class Address:
    """Where the pages are. All of them lie below a random path."""

    port: int
    path: str
    """It begins with a slash and has none at its end."""
    host_name: str = ""
    """The name under which a tunnel offers them by https; empty without one."""

    @property
    def hosts(self) -> tuple[str, ...]:
        return (f"127.0.0.1:{self.port}", *([self.host_name] if self.host_name else []))

    @property
    def origins(self) -> tuple[str, ...]:
        return (f"http://127.0.0.1:{self.port}", *([f"https://{self.host_name}"] if self.host_name else []))

    @property
    def url(self) -> str:
        return f"{self.origins[-1]}{self.path}"

    @property
    def cookie(self) -> str:
        """Cookies know no ports, so that their name does."""
        return f"santiago-{self.port}"

    def set_cookie(self, response: Response, session: Session) -> None:
        # Browsers would hand it to a program on another port of 127.0.0.1, which does not know the path.
        response.set_cookie(
            self.cookie, session.id, path=self.path, httponly=True, samesite="strict", secure=bool(self.host_name)
        )


@lean()
class Guard:
    """Lets requests through to the pages, with their session and their form, or answers them itself."""

    app: ASGIApp
    address: Address
    access: Access
    read_only: bool
    outside: Callable[[str, str], Response]
    """Makes the page for a browser without a session, for a reason and an address below the path."""
    tell: Callable[[str], None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            answer = await self._looked_at(scope, receive)
        except HTTPException as refused:
            answer = PlainTextResponse(f"{refused.detail}\n", refused.status_code)
        await (answer or self.app)(scope, receive, _with_headers(send, clear=ENTER in scope["path"]))

    async def _looked_at(self, scope: Scope, receive: Receive) -> Response | None:
        """Return the answer to a request that gets no further; None for one that does."""
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[one] for one in self.address.hosts]:
            raise HTTPException(421, "santiago: this is not its address")
        if not scope["path"].startswith(f"{self.address.path}/"):
            raise HTTPException(404, "santiago: nothing is here")
        if "service-worker" in headers:
            raise HTTPException(403, "santiago: its pages have no workers")
        inner = scope["path"].removeprefix(self.address.path)
        posted = scope["method"] == "POST"
        form = await self._form(headers, receive) if posted else {}
        scope["state"] = {**scope.get("state", {}), "form": form}
        if inner.startswith(ENTER):
            return self._at_the_door(inner.removeprefix(ENTER), posted=posted)
        if inner.startswith(STATIC) and not posted:
            return None
        session = self._session(headers)
        if session is None:
            return self._without_session(scope, headers, posted=posted)
        scope["state"]["session"] = session
        if posted and self.read_only:
            raise HTTPException(403, "santiago: these pages can only be read")
        if posted and not is_same(form.get("token", ""), session.token):
            raise HTTPException(403, "santiago: this form was not shown to you here; load the page again")
        return None

    async def _form(self, headers: Headers, receive: Receive) -> dict[str, str]:
        """Return what a form brings; raise where another site or a script sent it."""
        if headers.getlist("origin") not in [[one] for one in self.address.origins]:
            raise HTTPException(403, "santiago: a form of another site is not taken")
        # A script of a page, and a worker that somebody left, can send anything but a navigation.
        if headers.getlist("sec-fetch-site") != ["same-origin"] or headers.getlist("sec-fetch-mode") != ["navigate"]:
            raise HTTPException(403, "santiago: only a form of these pages is taken, from a browser that says so")
        if headers.get("content-type", "").partition(";")[0].strip() != FORM:
            raise HTTPException(415, "santiago: this is not a form")
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > LARGEST:
                raise HTTPException(413, f"santiago: a form has at most {LARGEST:,} bytes")
            if not message.get("more_body") or message["type"] == "http.disconnect":
                break
        try:
            return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS))
        except ValueError:
            raise HTTPException(400, "santiago: this form cannot be read") from None

    def _at_the_door(self, key: str, *, posted: bool) -> Response | None:
        """Show the page of a link, or use the link up."""
        used = self.access.was_used(key)
        if used is None:
            raise HTTPException(404, "santiago: nothing is here")
        if used:
            self.tell("a link that was used before was opened again; if that was not you, stop the server")
            return self.outside("used", "")
        if not posted:
            return self.outside("enter", "")
        answer = RedirectResponse(f"{self.address.path}/", 303)
        self.address.set_cookie(answer, self.access.enter(key))
        return answer

    def _session(self, headers: Headers) -> Session | None:
        # A program on another port can set a cookie of this name for all of 127.0.0.1, and others that are malformed.
        pairs = (one.strip().partition("=") for one in ";".join(headers.getlist("cookie")).split(";"))
        sessions = (self.access.session(value) for name, _, value in pairs if name == self.address.cookie)
        return next(filter(None, sessions), None)

    def _without_session(self, scope: Scope, headers: Headers, *, posted: bool) -> Response:
        if posted or headers.get("sec-fetch-mode", "navigate") != "navigate":
            raise HTTPException(403, "santiago: open the link that `santiago serve` printed")
        # Browsers keep the cookie back where a link on another site leads here. From a page of our own they send it.
        from_elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        query = scope["query_string"].decode("latin-1")
        return self.outside("elsewhere" if from_elsewhere else "unknown", f"{scope['path']}{query and '?'}{query}")


def _with_headers(send: Send, *, clear: bool) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            if clear:
                headers["clear-site-data"] = CLEAR
        await send(message)

    return sent
