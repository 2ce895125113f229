"""The pages of the phone, served on loopback: its own screens, and those of the applications it ships with.

A page changes something only by a request that carries a header which pages of other servers cannot send.
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import yaml
from aiohttp import web
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from pipeline.handset.apps import APPS
from pipeline.handset.apps.app import App, Asked, Done, Shown, Words
from pipeline.handset.content import database_of
from pipeline.handset.phone import Phone
from pipeline.handset.system_screens import ACTS, SCREENS, system_words
from pipeline.ports import LOOPBACK

_HEADER = "X-Handset"
_MOST_BYTES = 1024 * 1024


class PageServer:
    """Serves one phone."""

    def __init__(self, phone: Phone) -> None:
        """Nothing listens before `open`."""
        self._phone = phone
        self._apps = {app.package.name: app for app in APPS}
        self._pages = _environment()
        self._runner: web.AppRunner | None = None

    async def open(self) -> None:
        """Listen, and tell the phone where."""
        application = web.Application(client_max_size=_MOST_BYTES)
        application.router.add_get("/system/{screen}", self._system_screen)
        application.router.add_post("/system/{act}", self._system_act)
        application.router.add_static("/static", str(resources.files("pipeline.handset") / "pages" / "static"))
        application.router.add_get("/{package}/{screen:.*}", self._screen)
        application.router.add_post("/{package}/{act}", self._act)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, LOOPBACK, 0).start()
        self._phone.base = f"http://{LOOPBACK}:{self._runner.addresses[0][1]}"

    async def close(self) -> None:
        """Listen no longer."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _screen(self, request: web.Request) -> web.Response:
        app = self._apps.get(request.match_info["package"])
        screen = app.screens.get(request.match_info["screen"]) if app else None
        if app is None or screen is None:
            raise web.HTTPNotFound
        asked = self._asked(app, {name: request.query.getall(name) for name in request.query})
        return self._answer(f"{app.name}/", screen(asked), app.words, app)

    async def _act(self, request: web.Request) -> web.Response:
        app = self._apps.get(request.match_info["package"])
        act = app.acts.get(request.match_info["act"]) if app else None
        if app is None or act is None:
            raise web.HTTPNotFound
        asked = self._asked(app, await _form(request))
        done = act(asked)
        for name in done.changed:
            await self._phone.changed(name, by_page=True)
        return _told(done)

    async def _system_screen(self, request: web.Request) -> web.Response:
        screen = SCREENS.get(request.match_info["screen"])
        if screen is None:
            raise web.HTTPNotFound
        return self._answer("system/", screen(self._phone, request.query), system_words(), None)

    async def _system_act(self, request: web.Request) -> web.Response:
        act = ACTS.get(request.match_info["act"])
        if act is None:
            raise web.HTTPNotFound
        form = await _form(request)
        await act(self._phone, {name: values[-1] for name, values in form.items()})
        return _told(Done("none"))

    def _asked(self, app: App, fields: Mapping[str, list[str]]) -> Asked:
        phone = self._phone
        return Asked(
            data=database_of(phone, app),
            given={name: values[-1] for name, values in fields.items()},
            chosen=fields,
            clock=phone.clock,
            settings=phone.settings,
            language=phone.language,
            words=app.words,
        )

    def _answer(self, folder: str, shown: Shown, words: Words, app: App | None) -> web.Response:
        phone = self._phone
        position = 1 if phone.language == "zh" else 0
        values: dict[str, Any] = {
            **shown.values,
            "accent": app.package.colour if app else "#3b6fd4",
            "label": phone.label(app.package) if app else "",
            "language": phone.properties.get("persist.sys.locale"),
            "night": phone.night,
            "scale": phone.settings.get("system", "font_scale") or "1.0",
            "secure": shown.secure,
            "t": lambda key, **given: words[key][position].format(**given),
        }
        text = self._pages.get_template(folder + shown.template).render(values)
        headers = {"Cache-Control": "no-store"}
        return web.Response(text=text, content_type="text/html", headers=headers)


async def _form(request: web.Request) -> Mapping[str, list[str]]:
    if _HEADER not in request.headers:
        raise web.HTTPForbidden
    form = await request.post()
    return {name: [str(value) for value in form.getall(name)] for name in form}


def _told(done: Done) -> web.Response:
    return web.json_response({"then": done.then, "path": done.path, "problem": done.problem})


@cache
def _icons() -> Mapping[str, str]:
    text = (resources.files("pipeline.handset") / "pages" / "icons.yaml").read_text(encoding="utf-8")
    icons: Mapping[str, str] = yaml.safe_load(text)
    return icons


def _icon(name: str) -> Markup:
    return Markup('<svg viewBox="0 0 24 24" aria-hidden="true">{}</svg>').format(Markup(_icons()[name]))


def _tint(colour: str, lightness: float) -> str:
    """The same hue, lighter or darker."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    hue, _, saturation = colorsys.rgb_to_hls(red, green, blue)
    mixed = colorsys.hls_to_rgb(hue, lightness, saturation)
    return "#" + "".join(f"{round(part * 255):02x}" for part in mixed)


def _environment() -> Environment:
    pages = Environment(
        loader=PackageLoader("pipeline.handset", "pages"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.globals["icon"] = _icon
    pages.filters["tint"] = _tint
    pages.filters["money"] = lambda cents: f"{cents / 100:.2f}"
    return pages
