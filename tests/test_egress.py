"""The egress proxy with real connections."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import pytest_asyncio

from pipeline.allowlist import AllowList
from pipeline.egress import REFUSED_HEADER, Proxy
from pipeline.errors import SetupError
from tests.webserver import Reply, Request, WebServer, page, redirect


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as running:
        yield running


@pytest_asyncio.fixture
async def proxy(server: WebServer) -> AsyncIterator[Proxy]:
    made = Proxy(AllowList([server.address]))
    await made.start()
    yield made
    await made.close()


def client(proxy: Proxy) -> httpx.AsyncClient:
    return httpx.AsyncClient(proxy=f"http://127.0.0.1:{proxy.port}", trust_env=False, timeout=10)


async def raw(proxy: Proxy, data: bytes) -> bytes:
    """Everything the proxy says to these bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(data)
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer


async def test_a_listed_address_is_reached(proxy: Proxy, server: WebServer) -> None:
    server.answers["/x"] = page("hello")
    async with client(proxy) as http:
        answer = await http.get(f"{server.url}/x?q=1", headers={"X-Mine": "kept"})
    assert (answer.status_code, answer.text) == (200, "hello")
    [request] = server.requests
    assert (request.path, request.headers["host"], request.headers["x-mine"]) == ("/x?q=1", server.address, "kept")
    assert "proxy-connection" not in request.headers


async def test_bodies_pass_both_ways(proxy: Proxy, server: WebServer) -> None:
    data = bytes(range(256)) * 4000
    server.answers["/echo"] = lambda request: Reply(body=request.body)
    async with client(proxy) as http:
        answer = await http.post(f"{server.url}/echo", content=data)
    assert answer.content == data


async def test_many_requests_at_once(proxy: Proxy, server: WebServer) -> None:
    server.answers["/n"] = lambda request: page(request.path)
    async with client(proxy) as http:
        answers = await asyncio.gather(*(http.get(f"{server.url}/n?{number}") for number in range(60)))
    assert [answer.text for answer in answers] == [f"/n?{number}" for number in range(60)]


async def test_an_unlisted_address_is_refused_and_remembered_without_its_query(proxy: Proxy) -> None:
    async with client(proxy) as http:
        for _ in range(2):
            answer = await http.get("http://blocked.example/a?secret=1")
    assert (answer.status_code, answer.headers[REFUSED_HEADER]) == (403, "1")
    assert "not on the allow-list" in answer.text
    assert proxy.drain_refused() == ["http://blocked.example/a"]
    assert proxy.drain_refused() == []


async def test_each_hop_of_a_redirect_is_checked(proxy: Proxy, server: WebServer) -> None:
    with WebServer() as other:
        server.answers["/go"] = redirect(f"{other.url}/secret")
        async with client(proxy) as http:
            answer = await http.get(f"{server.url}/go", follow_redirects=True)
        assert other.requests == []
    assert answer.status_code == 403
    assert proxy.drain_refused() == [f"{other.url}/secret"]


@pytest.mark.parametrize("host", ["169.254.169.254", "2852039166", "[::ffff:169.254.169.254]", "0.0.0.0"])
async def test_metadata_is_never_reached_even_when_listed(host: str) -> None:
    proxy = Proxy(AllowList([host]))
    await proxy.start()
    answer = await raw(proxy, f"GET http://{host}/latest/meta-data/ HTTP/1.1\r\n\r\n".encode())
    await proxy.close()
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"may not be reached" in answer


async def test_a_name_that_leads_inward_is_refused(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def inward(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(2, 1, 6, "", ("93.184.216.34", 80)), (2, 1, 6, "", ("127.0.0.1", 80))]

    proxy = Proxy(AllowList(["rebound.example"]))
    await proxy.start()
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", inward)
    answer = await raw(proxy, b"GET http://rebound.example/ HTTP/1.1\r\n\r\n")
    monkeypatch.undo()
    await proxy.close()
    assert answer.startswith(b"HTTP/1.1 403")
    assert proxy.drain_refused() == ["http://rebound.example/"]


async def test_the_list_may_change_while_running(proxy: Proxy, server: WebServer) -> None:
    server.answers["/"] = page("in")
    async with client(proxy) as http:
        proxy.allow_list = AllowList()
        assert (await http.get(server.url)).status_code == 403
        proxy.allow_list = AllowList(["localhost"])
        assert (await http.get(f"http://localhost:{server.port}/")).text == "in"


async def test_a_server_that_is_gone_is_a_bad_gateway(proxy: Proxy) -> None:
    with WebServer() as gone:
        proxy.allow_list = AllowList([gone.address])
    async with client(proxy) as http:
        answer = await http.get(gone.url)
    assert answer.status_code == 502
    assert proxy.drain_refused() == []


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET file:///etc/passwd HTTP/1.1\r\n\r\n",
        b"GET https://example.com/ HTTP/1.1\r\n\r\n",
        b"CONNECT 127.0.0.1 HTTP/1.1\r\n\r\n",
        b"CONNECT user@host:1 HTTP/1.1\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET http://127.0.0.1/ HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET http://127.0.0.1/ SPDY/9\r\n\r\n",
    ],
)
async def test_what_is_no_request_to_a_proxy_is_refused(proxy: Proxy, head: bytes) -> None:
    assert (await raw(proxy, head)).startswith(b"HTTP/1.1 400")


async def test_an_endless_head_ends_the_connection(proxy: Proxy) -> None:
    with contextlib.suppress(ConnectionResetError):
        assert await raw(proxy, b"GET http://127.0.0.1/" + b"x" * 200_000) == b""


async def test_a_tunnel_carries_bytes_both_ways_to_listed_addresses_only(proxy: Proxy, server: WebServer) -> None:
    server.answers["/"] = page("through the tunnel")
    request = f"GET / HTTP/1.1\r\nHost: {server.address}\r\nConnection: close\r\n\r\n"
    answer = await raw(proxy, f"CONNECT {server.address} HTTP/1.1\r\n\r\n{request}".encode())
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\n")
    assert answer.endswith(b"through the tunnel")
    assert (await raw(proxy, b"CONNECT blocked.example:443 HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 403")
    assert proxy.drain_refused() == ["blocked.example:443"]


async def test_a_protocol_upgrade_stays_open_both_ways(proxy: Proxy) -> None:
    heads: list[bytes] = []

    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        while data := await reader.read(100):
            writer.write(data.upper())
        writer.close()

    async with await asyncio.start_server(shout, "127.0.0.1", 0) as upstream:
        address = f"127.0.0.1:{upstream.sockets[0].getsockname()[1]}"
        proxy.allow_list = AllowList([address])
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(f"GET http://{address}/ HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n".encode())
        assert b"101" in await reader.readuntil(b"\r\n\r\n")
        for word in (b"one", b"two"):
            writer.write(word)
            assert await reader.readexactly(3) == word.upper()
        assert not proxy.busy(0)
        writer.close()
    assert b"Connection: Upgrade" in heads[0]


async def test_interim_answers_come_first(proxy: Proxy) -> None:
    async def patient(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await reader.readexactly(4)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: keep-alive\r\n\r\n" + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(patient, "127.0.0.1", 0) as upstream:
        address = f"127.0.0.1:{upstream.sockets[0].getsockname()[1]}"
        proxy.allow_list = AllowList([address])
        head = f"POST http://{address}/ HTTP/1.1\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
        answer = await raw(proxy, head.encode() + b"body")
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert b"keep-alive" not in answer
    assert answer.endswith(b"Connection: close\r\n\r\nbody")


async def test_it_knows_that_a_request_waits_for_its_answer(proxy: Proxy, server: WebServer) -> None:
    server.answers["/slow"] = server.later(0.4, page("done"))
    since = time.monotonic()
    async with client(proxy) as http:
        asking = asyncio.create_task(http.get(f"{server.url}/slow"))
        await _until_asked(server)
        assert proxy.busy(since)
        assert not proxy.busy(time.monotonic())
        assert not await proxy.idle(since, 0.05)
        assert await proxy.idle(since, 10)
        await asking


@pytest.mark.parametrize(
    "header", [("Accept", "text/event-stream"), ("Sec-Fetch-Dest", "image"), ("Sec-Fetch-Dest", "font")]
)
async def test_streams_and_pictures_are_not_waited_for(
    proxy: Proxy, server: WebServer, header: tuple[str, str]
) -> None:
    server.stalled.add("/never")
    async with client(proxy) as http:
        asking = asyncio.create_task(http.get(f"{server.url}/never", headers=dict([header])))
        await _until_asked(server)
        assert not proxy.busy(0)
        asking.cancel()


async def test_a_client_that_leaves_takes_its_request_along(proxy: Proxy, server: WebServer) -> None:
    server.stalled.add("/never")
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(f"GET {server.url}/never HTTP/1.1\r\n\r\n".encode())
    await _until_asked(server)
    writer.close()
    assert await proxy.idle(0, 10)
    del reader


async def test_closing_drops_what_is_open_and_may_be_repeated(server: WebServer) -> None:
    server.stalled.add("/never")
    proxy = Proxy(AllowList([server.address]))
    await proxy.start()
    await proxy.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(f"GET {server.url}/never HTTP/1.1\r\n\r\n".encode())
    await _until_asked(server)
    await proxy.close()
    await proxy.close()
    assert await reader.read() == b""
    writer.close()
    with pytest.raises(SetupError):
        _ = proxy.port


async def test_it_listens_on_loopback_only(proxy: Proxy) -> None:
    assert proxy._server is not None
    assert [socket.getsockname()[0] for socket in proxy._server.sockets] == ["127.0.0.1"]


async def _until_asked(server: WebServer) -> Request:
    assert await asyncio.to_thread(server.asked.wait, 10)
    return server.requests[0]
