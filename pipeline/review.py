"""Serves a review to one person's browser, on loopback, until Ctrl-C.

The address holds a random token and every request must carry it; requests that name another host, and posts that come
from another site's page, are refused. All work on the dataset is done by one thread, so that an answer being stored
ends before the review does. This module knows nothing of grades.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import signal
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from aiohttp import web

from pipeline import manifest
from pipeline.errors import ConfigError, PathproofError
from pipeline.page_templates import page_template
from pipeline.ports import LOOPBACK
from pipeline.review_answers import AnswerError, read_answer
from pipeline.review_pages import CHOICES, STEP_CHOICES, ReviewPage, list_page, review_page
from pipeline.review_session import Progress, Selection, Session
from pipeline.storage import Address, driver_lock

LONGEST_NAME = 60

_SHUTDOWN_SECONDS = 30.0
_NAMES = (LOOPBACK, "localhost")
_POLICY = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
_PAGE_POLICY = (
    "img-src 'self' data:; style-src 'nonce-{nonce}'; style-src-attr 'unsafe-inline'; script-src 'nonce-{nonce}'; "
    "form-action 'self'"
)
"""What a page needs beyond nothing: its pictures stand in it, and a ring's place is a style attribute."""

Found = TypeVar("Found")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def review(
    address: Address, selection: Selection, announce: Callable[[str], None], *, port: int = 0, name: str | None = None
) -> Progress:
    """Serve until Ctrl-C, then say how far it came; `announce` is told the address to open.

    Raises ConfigError when the address is of no dataset, or the port or the name cannot be used, and RunError when a
    driver is at work.
    """
    storage = manifest.storage_with_manifest(address)
    with driver_lock(storage), Session(storage, selection) as session:
        if name is not None:
            session.begin(named(name))
        asyncio.run(_until_interrupted(session, port, announce))
        return session.progress


def named(text: str) -> str:
    """A reviewer's name in one spelling; raises ConfigError."""
    name = " ".join(text.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise ConfigError(f"--name: a reviewer's name has 1 to {LONGEST_NAME} printable characters")
    return name


async def _until_interrupted(session: Session, port: int, announce: Callable[[str], None]) -> None:
    ending = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ending.set)
    await serve(session, port, announce, ending)


async def serve(session: Session, port: int, announce: Callable[[str], None], ending: asyncio.Event) -> None:
    """Answer requests until `ending`; port 0 takes a free one. Raises ConfigError when the port is taken."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="review") as thread:
        server = _Server(session, thread)
        runner = web.AppRunner(server.application, access_log=None, shutdown_timeout=_SHUTDOWN_SECONDS)
        await runner.setup()
        try:
            await web.TCPSite(runner, LOOPBACK, port).start()
            announce(server.address(int(runner.addresses[0][1])))
            await ending.wait()
        except (OSError, OverflowError) as error:
            raise ConfigError(f"--port: cannot listen on port {port}: {error}") from error
        finally:
            await runner.cleanup()


class _Page(NamedTuple):
    """A page to be rendered."""

    template: str
    values: dict[str, Any]
    status: int = 200


class _Server:
    """The pages of one session under one token."""

    def __init__(self, session: Session, thread: ThreadPoolExecutor) -> None:
        self._session, self._thread = session, thread
        self._token = secrets.token_urlsafe(24)
        self._hosts: set[str] = set()
        self.application = web.Application(middlewares=[self._guarded])
        self.application.on_response_prepare.append(_protect)
        routes = self.application.router
        routes.add_get("/", self._list)
        routes.add_post("/name", self._name)
        routes.add_get("/trajectories/{attempt_id}", self._trajectory)
        routes.add_post("/trajectories/{attempt_id}", self._answer)
        routes.add_get("/trajectories/{attempt_id}/looks/{look}", self._look)

    def address(self, port: int) -> str:
        """The address to open, now that the port is known."""
        self._hosts = {f"{name}:{port}" for name in _NAMES}
        return f"http://{LOOPBACK}:{port}{self._link('/')}"

    def _link(self, path: str) -> str:
        return f"{path}?token={self._token}"

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse who does not know the token, or comes from elsewhere; tell of what could not be done."""
        host, given = request.headers.get("Host", ""), request.query.get("token", "")
        if host not in self._hosts or not hmac.compare_digest(given.encode(), self._token.encode()):
            raise web.HTTPForbidden(text="open the address that `pathproof review` printed\n")
        if request.method != "GET" and request.headers.get("Origin") != f"http://{host}":
            raise web.HTTPForbidden(text="answers come from the review's own pages\n")
        try:
            return await handler(request)
        except PathproofError as error:
            lost = "" if request.method == "GET" else " The answer may not have been stored: give it again."
            values = {"title": "This could not be done", "message": f"{error}.{lost}"}
            return self._render(_Page("review_message.html.j2", values, 500))

    async def _list(self, _: web.Request) -> web.StreamResponse:
        if self._session.reviewer is None:
            return self._render(_Page("review_name.html.j2", {"problem": ""}))
        page = await self._work(list_page, self._session)
        return self._render(_Page("review_list.html.j2", {"page": page}))

    async def _name(self, request: web.Request) -> web.StreamResponse:
        form = await _form(request)
        try:
            name = named(form.get("name", ""))
        except ConfigError:
            values = {"problem": f"A name has 1 to {LONGEST_NAME} printable characters."}
            return self._render(_Page("review_name.html.j2", values, 422))
        if self._session.reviewer is None:
            await self._work(self._session.begin, name)
        raise web.HTTPSeeOther(self._link("/"))

    async def _trajectory(self, request: web.Request) -> web.StreamResponse:
        attempt_id = self._known(request)
        return self._shown(await self._work(review_page, self._session, attempt_id))

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        attempt_id = self._known(request)
        form = await _form(request)
        problem = await self._work(self._stored, attempt_id, form)
        if problem is None:
            raise web.HTTPSeeOther(self._link(f"/trajectories/{attempt_id}"))
        return self._shown(problem, 422)

    def _stored(self, attempt_id: str, form: dict[str, str]) -> ReviewPage | None:
        """Store an answer; the page to show again when it cannot be taken."""
        record = self._session.dataset.record(attempt_id, pictures=False)
        try:
            answer = read_answer(form, [step.step_index for step in record.own_steps], record.trajectory.claim)
        except AnswerError as error:
            return review_page(self._session, attempt_id, error.draft, str(error))
        self._session.store(attempt_id, answer)
        return None

    async def _look(self, request: web.Request) -> web.StreamResponse:
        data = await self._work(self._picture, self._known(request), request.match_info["look"])
        if data is None:
            raise web.HTTPNotFound(text="no such picture\n")
        return web.Response(body=data, content_type="image/png")

    def _picture(self, attempt_id: str, look: str) -> bytes | None:
        record = self._session.dataset.record(attempt_id)
        frames = {str(one.observation_index): one.frame_sha256 for one in record.observations}
        last = record.observations[-1].frame_sha256 if record.observations else None
        frame = record.frames.get((last if look == "last" else frames.get(look)) or "")
        return frame.image.bytes if frame else None

    def _known(self, request: web.Request) -> str:
        attempt_id = request.match_info["attempt_id"]
        if not self._session.has(attempt_id):
            raise web.HTTPNotFound(text="no such trajectory in this review\n")
        return attempt_id

    def _shown(self, page: ReviewPage, status: int = 200) -> web.Response:
        values = {
            "page": page,
            "choices": CHOICES,
            "step_choices": STEP_CHOICES,
            "look": lambda number: self._link(f"/trajectories/{page.attempt_id}/looks/{number}"),
        }
        return self._render(_Page("review_trajectory.html.j2", values, status))

    def _render(self, page: _Page) -> web.Response:
        nonce = secrets.token_urlsafe(16)
        text = page_template(page.template).render(page.values, link=self._link, nonce=nonce)
        headers = {"Content-Security-Policy": f"{_POLICY}; {_PAGE_POLICY.format(nonce=nonce)}"}
        return web.Response(text=text, content_type="text/html", status=page.status, headers=headers)

    async def _work(self, work: Callable[..., Found], *arguments: Any) -> Found:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)


async def _form(request: web.Request) -> dict[str, str]:
    """The fields of a form; what is no text is a bad request."""
    try:
        return {name: str(value) for name, value in (await request.post()).items()}
    except (ValueError, LookupError) as error:
        raise web.HTTPBadRequest(text="This form cannot be read.") from error


async def _protect(_: web.Request, response: web.StreamResponse) -> None:
    """Headers of every answer, refusals too."""
    response.headers.setdefault("Content-Security-Policy", _POLICY)
    response.headers["Cache-Control"] = "no-store"
    # `no-referrer` would make the browser hide where a form was sent from.
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["X-Content-Type-Options"] = "nosniff"
