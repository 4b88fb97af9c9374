"""The pages of one repository as an application: what each address answers. The guard stands before all of it."""

from __future__ import annotations

import asyncio
import re
from importlib import resources
from secrets import token_hex
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from markupsafe import escape
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from santiago.contract.errors import Kind, SantiagoError
from santiago.web.acting.acts import Acts
from santiago.web.acting.board_acts import has_board
from santiago.web.acting.step import page_of
from santiago.web.followed import Runs
from santiago.web.live import Live
from santiago.web.rendering import render
from santiago.web.screens import Screens, crumbs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from santiago.web.access import Session
    from santiago.web.guard import Address

FILES = {
    "style.css": "text/css", "page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml",
    "idiomorph/idiomorph.min.js": "text/javascript", "idiomorph/LICENSE": "text/plain",
}  # fmt: skip
STATUS = {Kind.USAGE: 404, Kind.INPUT: 409, Kind.BLOCKED: 403}
SHOWN_IN_URL = ("filter", "find", "open", "revision")
"""What of an address's query says which page it is."""


class Pages:
    """Everything behind the guard."""

    def __init__(self, address: Address, place: str, who: str, *, read_only: bool) -> None:
        self.address = address
        self.mark, self.draft, self.parts = token_hex(16), token_hex(16), token_hex(16)
        """Stand where each browser has its own token, or its own unsent text; and where parts come, which no template copies."""
        self.shared: dict[str, Any] = {
            "base": address.path, "place": place, "who": who, "read_only": read_only, "token": self.mark, "draft": self.draft,
            "parts": self.parts, "at": "", "query": "", "closed": "", "title": "", "crumbs": [("", "All runs")], "live": "", "cursor": "",
            "shows": "",
        }  # fmt: skip
        """What all templates are given; a page replaces what is its own."""
        self.runs = Runs()
        self.acts = Acts(self.runs, who)
        self.screens = Screens(self.runs, self.acts, self.shared)
        self.live = Live(self.fill)
        routes = [
            Route("/static/{name:path}", _static),
            Route("/live", self._stream),
            Route("/ask", self._ask, methods=["POST"]),
            Route("/send", self._send, methods=["POST"]),
            Route("/{path:path}", self._show),
        ]
        self.app = Starlette(routes=[Mount(address.path, routes=routes)])

    def fill(self, html: str, session: Session, draft: tuple[str, str] = ("", "")) -> str:
        """Return shared HTML as one browser gets it: with its token, and with what it typed for an act and did not send."""
        act, text = draft
        html = html.replace(self.mark, session.token)
        return re.sub(f"{self.draft}-([a-z-]+)-(?=<)", lambda found: str(escape(text)) if found[1] == act else "", html)

    def outside(self, kind: str, to: str) -> Response:
        """Return the page for a browser without a session."""
        page = render("outside.html", {**self.shared, "kind": kind, "to": to})
        return HTMLResponse(page, 200 if kind == "enter" else 403)

    async def _show(self, request: Request) -> Response:
        session, path = request.state.session, request.path_params["path"]
        try:
            return await asyncio.to_thread(self._page, session, path, request.query_params)
        except SantiagoError as error:
            return self._message(session, error, "", title="This cannot be shown")

    def _page(self, session: Session, path: str, query: QueryParams) -> Response:
        screen = self.screens.find(path, query)
        place = _place(path, query)
        topic = self.live.topic(place, screen.make)
        topic.refresh(at_once=True)
        cursor, parts = topic.page()
        step = session.steps.get(query.get("draft", ""))
        draft = (step.form["act"], step.form.get("text", "")) if step else ("", "")
        page = self._html(
            session, "page.html", title=screen.title, crumbs=crumbs(path), shows=screen.command, cursor=cursor,
            live=f"{self.address.path}/live?of={quote(place, safe='')}",
        )  # fmt: skip
        return HTMLResponse(self.fill(page.replace(self.parts, parts), session, draft))

    def _html(self, session: Session, template: str, **values: Any) -> str:
        return render(template, {**self.shared, "has_board": has_board(), "told": session.told_once(), **values})

    def _message(
        self, session: Session, error: SantiagoError, back: str, text: str = "", title: str = "This was not done"
    ) -> Response:
        message = f"{error.where}: {error.message}" if error.where else error.message
        page = self._html(session, "message.html", title=title, message=message, hint=error.hint, back=back, text=text)
        return HTMLResponse(page, STATUS.get(error.kind, 500))

    async def _stream(self, request: Request) -> Response:
        """Send what changes on the page of an address, from a cursor on."""
        path, _, query = request.query_params.get("of", "").partition("?")
        try:
            screen = await asyncio.to_thread(self.screens.find, path, QueryParams(query))
        except SantiagoError:
            return PlainTextResponse("there is no such page\n", 404)
        topic = self.live.topic(_place(path, QueryParams(query)), screen.make)
        stream = self.live.stream(topic, request.state.session, request.query_params.get("since", ""))
        return StreamingResponse(stream, media_type="text/event-stream")

    async def _ask(self, request: Request) -> Response:
        """Show what a form was understood to ask for. This does nothing."""
        session, form = request.state.session, request.state.form
        try:
            step = await asyncio.to_thread(self.acts.understand, form)
        except SantiagoError as error:
            return self._message(session, error, page_of(form), form.get("text", ""))
        back = page_of(form)
        page = self._html(
            session, "step.html", title=step.title, crumbs=crumbs(f"{back}/-"), step=step, name=session.hold(step), back=back
        )  # fmt: skip
        return HTMLResponse(self.fill(page, session))

    async def _send(self, request: Request) -> Response:
        """Do what was understood and shown, once."""
        session, form = request.state.session, request.state.form
        back = text = ""
        try:
            step = session.take(form.get("step", ""), form.get("typed", ""))
            back, text = page_of(step.form), step.form.get("text", "")
            session.told = await asyncio.to_thread(self.acts.send, step)
        except SantiagoError as error:
            return self._message(session, error, back, text)
        return RedirectResponse(f"{self.address.path}/{back}", 303)


def _place(path: str, query: Mapping[str, str]) -> str:
    """Return what of an address says which page it is."""
    told = {name: query[name] for name in SHOWN_IN_URL if query.get(name)}
    return f"{path}?{urlencode(told)}" if told else path


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in FILES:
        return PlainTextResponse("nothing is here\n", 404)
    return Response((resources.files("santiago.web") / "static" / name).read_bytes(), media_type=FILES[name])
