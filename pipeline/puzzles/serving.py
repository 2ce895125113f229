"""Serves puzzles on loopback and judges what their pages say was done.

    GET  /                                   the types
    GET  /{type}/{seed}/{level}/{language}   the page of a puzzle; `?on=phone` for a phone's
    POST the same address                    what was done there, as JSON; the answer is {"right": true or false}

Verdicts are told to whoever made the site. Knows nothing of browsers and of what verdicts are for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from html import escape
from importlib import resources
from typing import get_args

from aiohttp import web
from pydantic import ValidationError

from pipeline.puzzles.answers import Given, Ground
from pipeline.puzzles.catalog import TYPES
from pipeline.puzzles.page import On, html_of
from pipeline.puzzles.puzzle import Key, Language, Level, Puzzle, PuzzleError, make_puzzle

_LOOPBACK = "127.0.0.1"
_MOST_BYTES = 1_000_000
MOST_SEED = 2**53
"""Seeds are below it, so that any program reads them exactly."""
_REMEMBERED = 512
_SCRIPT_SECONDS = 600
"""How long a browser may keep the script, which is the same for all puzzles."""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}

Verdict = Callable[[Key, bool], None]


def address_of(key: Key, on: On = "web") -> str:
    """Where the page of a puzzle is, from the root of the site."""
    path = "/{}/{}/{}/{}".format(*key)
    return f"{path}?on=phone" if on == "phone" else path


@lru_cache(maxsize=_REMEMBERED)
def puzzle_of(key: Key) -> Puzzle:
    """The puzzle of a key; raises KeyError for a type that is not there, PuzzleError for one that is not sound."""
    return make_puzzle(TYPES[key.type_name], key.seed, key.level, key.language)


def site(told: Verdict) -> web.Application:
    """The site; `told` hears every verdict before the page does."""
    application = web.Application(client_max_size=_MOST_BYTES)

    async def show(request: web.Request) -> web.Response:
        on: On = "phone" if request.query.get("on") == "phone" else "web"
        return _html(html_of(_puzzle(request), on))

    async def judge(request: web.Request) -> web.Response:
        key, _, _, scene = _puzzle(request)
        try:
            given = Given.model_validate_json(await request.read())
        except ValidationError as error:
            raise web.HTTPBadRequest(text="not what a page of a puzzle says") from error
        right = scene.answer.fits(given, Ground(scene.marks, scene.walls))
        told(key, right)
        return web.json_response({"right": right})

    application.router.add_get("/", _index)
    application.router.add_get("/page.js", _script)
    application.router.add_get("/{type}/{seed}/{level}/{language}", show)
    application.router.add_post("/{type}/{seed}/{level}/{language}", judge)
    return application


@asynccontextmanager
async def served(told: Verdict, port: int = 0) -> AsyncIterator[str]:
    """Serve the site on loopback for a while; where it is, as host:port. Raises OSError for a port that is taken."""
    runner = web.AppRunner(site(told), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, _LOOPBACK, port).start()
        host, taken = runner.addresses[0][:2]
        yield f"{host}:{taken}"
    finally:
        await runner.cleanup()


def _puzzle(request: web.Request) -> Puzzle:
    try:
        return puzzle_of(_key(request))
    except PuzzleError as error:
        raise web.HTTPNotFound(text="there is no such puzzle") from error


def _key(request: web.Request) -> Key:
    said = request.match_info
    levels = {str(level): level for level in get_args(Level)}
    languages = {language: language for language in get_args(Language)}
    seed = said["seed"]
    try:
        if not (seed.isascii() and seed.isdigit() and int(seed) < MOST_SEED):
            raise KeyError(seed)
        TYPES[said["type"]]
        return Key(said["type"], int(seed), levels[said["level"]], languages[said["language"]])
    except KeyError as error:
        raise web.HTTPNotFound(text="there is no such puzzle") from error


async def _index(_: web.Request) -> web.Response:
    links = "".join(f'<li><a href="/{escape(name)}/0/1/en">{escape(name)}</a></li>' for name in sorted(TYPES))
    return _html(f"<!doctype html><meta charset=utf-8><title>Puzzles</title><h1>Puzzles</h1><ul>{links}</ul>")


async def _script(_: web.Request) -> web.Response:
    text = (resources.files("pipeline.puzzles") / "page.js").read_text(encoding="utf-8")
    kept = _HEADERS | {"Cache-Control": f"private, max-age={_SCRIPT_SECONDS}"}
    return web.Response(text=text, content_type="text/javascript", headers=kept)


def _html(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/html", headers=_HEADERS)
