"""A small web server for tests, on loopback in a thread: pages, files, redirects, and requests that never end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

PAGES = Path(__file__).parent / "pages"


class Reply(NamedTuple):
    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Answer = Reply | Callable[[Request], Reply]


def page(text: str) -> Reply:
    return Reply(body=text.encode())


def redirect(address: str) -> Reply:
    return Reply(302, headers=(("Location", address),))


def file(name: str, data: bytes) -> Reply:
    disposition = f'attachment; filename="{name}"'
    return Reply(body=data, headers=(("Content-Type", "text/csv"), ("Content-Disposition", disposition)))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # the default of 5 leaves further connections of a burst without an answer for good


class WebServer:
    """Serves what `answers` says by path, files of `folder` otherwise; `stalled` paths are answered at the end."""

    def __init__(self, folder: Path = PAGES) -> None:
        self.answers: dict[str, Answer] = {}
        self.stalled: set[str] = set()
        self.requests: list[Request] = []
        self.asked = threading.Event()
        self.ending = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self, folder))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def later(self, seconds: float, reply: Reply) -> Answer:
        """An answer that takes its time."""

        def answer(request: Request) -> Reply:
            self.ending.wait(seconds)
            return reply

        return answer

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    def __enter__(self) -> WebServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.ending.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(server: WebServer, folder: Path) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            headers = {key.lower(): value for key, value in self.headers.items()}
            request = Request(self.command, self.path, headers, self.rfile.read(length))
            server.requests.append(request)
            server.asked.set()
            path = self.path.partition("?")[0]
            if path in server.stalled:
                server.ending.wait(60)
            self._send(_reply(server, folder, request, path))

        do_POST = do_GET

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    return Handler


def _reply(server: WebServer, folder: Path, request: Request, path: str) -> Reply:
    answer = server.answers.get(path)
    if callable(answer):
        return answer(request)
    if answer is not None:
        return answer
    found = folder / path.lstrip("/")
    return page(found.read_text(encoding="utf-8")) if found.is_file() else Reply(404, b"not here")
