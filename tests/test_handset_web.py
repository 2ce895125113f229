"""Web applications of this machine in packages of the handset: opened, left, asked back, cleared."""

from __future__ import annotations

import io
import re
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from PIL import Image, ImageChops

from tests.handsets import Held

WIKI = "org.pathproof.web.wiki"

PAGE = """<!doctype html><title>Wiki start</title><h1>Wiki start</h1>
<a href="/other">Other page</a> <a href="/other" target="_blank">New window</a>
<button onclick="title = confirm('Delete all?') ? 'deleted' : 'kept'; textContent = title">Ask</button>"""


STORED = """<!doctype html><title>Stored</title><p id=told></p>
<script>
told.textContent = `${document.cookie || "no cookie"}, ${localStorage.getItem("seen") || "nothing"} stored`;
document.cookie = "login=1; max-age=9999"; localStorage.setItem("seen", "something");
</script>"""
BLOCKS = """<!doctype html><title>Blocks</title><style>
body { margin: 0; background: white; height: 3000px }
button { position: absolute; border: 0; color: transparent; outline: 0 }
#pane { position: absolute; left: 20px; top: 300px; width: 150px; height: 90px; overflow: hidden }
</style>
<button style="left: 10px; top: 12px; width: 61px; height: 33px; background: #ff0000">Red</button>
<button style="left: 300px; top: 100px; width: 900px; height: 50px; background: #00ff00">Green</button>
<div id=pane>
<button style="left: -30px; top: 40px; width: 100px; height: 200px; background: #0000ff">Blue</button></div>
<button style="left: 50px; top: 200px; width: 80px; height: 40px; background: #f0f;
 transform: scale(1.5)">Pink</button>
<button style="left: 40px; top: 1100px; width: 120px; height: 60px; background: #00ffff">Cyan</button>"""
COLOURS = {
    "Red": (255, 0, 0),
    "Green": (0, 255, 0),
    "Blue": (0, 0, 255),
    "Pink": (255, 0, 255),
    "Cyan": (0, 255, 255),
}
ANSWERS = {"/": PAGE, "/stored": STORED, "/blocks": BLOCKS}


REACHING = """<!doctype html><h1>Reaching</h1><img src="http://HOST/img"><iframe src="http://HOST/frame"></iframe><script>
const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:HOST" }] });
peer.createDataChannel("x");
peer.createOffer().then((offer) => peer.setLocalDescription(offer));
Promise.allSettled([
  fetch("http://HOST/fetch", { mode: "no-cors" }),
  new Promise((done) => { new WebSocket("ws://HOST/socket").onerror = done }),
  new Promise((done) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === "complete" && done() }),
]).then(() => { document.querySelector("h1").textContent = "Tried" });
</script>"""


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = ANSWERS.get(self.path, "<!doctype html><h1>Other</h1>").encode()
        if self.path.startswith("/reaching"):
            body = REACHING.replace("HOST", self.path.partition("?")[2]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def phone(handset: Held) -> Held:
    return handset


@pytest.fixture(autouse=True)
def fresh(phone: Held) -> None:
    phone.fresh(WIKI)


@pytest.fixture
def pages(phone: Held) -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        port = server.server_address[1]
        phone.adb("reverse", f"tcp:{port}", f"tcp:{port}")
        yield port
        server.shutdown()
        thread.join()


def view(phone: Held, address: str) -> None:
    phone.sh(f"am start -W -a android.intent.action.VIEW -d {address} {WIKI}")


def test_what_pages_have_stored_is_gone_when_their_package_is_cleared(phone: Held, pages: int) -> None:
    address = f"http://127.0.0.1:{pages}/stored"

    said: list[str] = []
    for _ in range(2):
        view(phone, address)
        said.append(phone.find("login=1" if said else "no cookie").text)
    phone.sh(f"pm clear {WIKI}")
    view(phone, address)

    assert said == ["no cookie, nothing stored", "login=1, something stored"]
    phone.find("no cookie, nothing stored")


def painted(picture: Image.Image, colour: tuple[int, int, int]) -> tuple[int, int, int, int] | None:
    """The box of everything in one colour."""
    channels = [
        channel.point(lambda value, want=want: 255 * (value == want))
        for channel, want in zip(picture.split(), colour, strict=True)
    ]
    red, green, blue = channels
    return ImageChops.multiply(ImageChops.multiply(red, green), blue).getbbox()


def told(phone: Held) -> dict[str, tuple[int, ...]]:
    """The boxes of buttons by their names."""
    nodes = {
        node.text or node.description: node.attributes["bounds"] for node in phone.nodes() if node.kind == "Button"
    }
    return {name: tuple(map(int, re.findall(r"-?\d+", bounds))) for name, bounds in nodes.items()}


@pytest.mark.parametrize("rotation", [0, 1])
def test_boxes_of_the_tree_are_where_things_are_painted(phone: Held, pages: int, rotation: int) -> None:
    phone.sh(f"settings put system user_rotation {rotation}")
    view(phone, f"http://127.0.0.1:{pages}/blocks")

    for scrolled in (False, True):
        if scrolled:
            phone.sh("input swipe 600 700 600 100 1000")
        boxes = told(phone)
        picture = Image.open(io.BytesIO(phone.adb("exec-out", "screencap -p").stdout)).convert("RGB")
        seen = {name: box for name, colour in COLOURS.items() if (box := painted(picture, colour)) is not None}

        assert boxes == seen, (rotation, scrolled)
        assert len(seen) >= (1 if scrolled else 3)


def test_a_window_that_a_page_has_opened_is_closed_with_its_application(phone: Held, pages: int) -> None:
    view(phone, f"http://127.0.0.1:{pages}/")
    phone.tap("New window")
    phone.find("Other")

    phone.sh(f"am force-stop {WIKI}")
    view(phone, f"http://127.0.0.1:{pages}/")

    assert phone.find("Wiki start").kind


def test_an_application_that_asks_something_can_be_closed(phone: Held, pages: int) -> None:
    view(phone, f"http://127.0.0.1:{pages}/")
    phone.tap("Ask")
    phone.find("Delete all?")

    phone.sh(f"am force-stop {WIKI}")
    phone.find("Notes")
    view(phone, f"http://127.0.0.1:{pages}/")

    assert phone.find("Ask").kind == "Button"


def test_a_wrapped_web_application(phone: Held, pages: int) -> None:
    phone.tap("Wiki")
    phone.find("Nothing to show yet: this app has not been told an address.")
    view(phone, f"http://127.0.0.1:{pages}/")
    phone.tap("Other page")
    phone.find("Other")
    phone.sh("input keyevent BACK")
    phone.tap("New window")
    phone.find("Other")
    phone.sh("input keyevent BACK")
    phone.tap("Ask")
    phone.find("Delete all?")
    phone.tap("Cancel")
    phone.find("kept")
    phone.tap("kept")
    phone.tap("OK")
    phone.find("deleted")
    phone.sh(f"input keyevent HOME; am force-stop {WIKI}")

    # It remembers where it was.
    phone.tap("Wiki")
    assert phone.find("Wiki start").is_called("Wiki start")


def test_a_page_of_the_phone_reaches_no_other_server(phone: Held, pages: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(other.getsockname())
        view(phone, f"http://127.0.0.1:{pages}/reaching?127.0.0.1:{other.getsockname()[1]}")

        assert phone.find("Tried").is_called("Tried")
        for server in (other, datagrams):
            server.setblocking(False)
            with pytest.raises(BlockingIOError):
                server.recv(1) if server is datagrams else server.accept()


def test_only_addresses_it_was_told_are_reached(phone: Held, pages: int) -> None:
    view(phone, "http://192.0.2.1/")

    assert "Wiki start" not in phone.texts()
    assert phone.ran("am start -a android.intent.action.VIEW -d http://127.0.0.1/ org.pathproof.notes")[0] == 1
