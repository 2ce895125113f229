"""A very small application as a real wheel: installed, started and asked like any other, in a fraction of a second."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from pipeline.app_entry import AppEntry

PROGRAM = """
import http.server, json, os, socket, sqlite3, sys, time, urllib.parse

HOST, PORT, DATA = sys.argv[1], int(sys.argv[2]), sys.argv[3]
MODE = os.environ.get("TINY_MODE", "")


def database():
    return sqlite3.connect(DATA + "/tiny.db")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/items":
            rows = database().execute("SELECT name, price FROM items ORDER BY id").fetchall()
            items = [{"name": name, "price": price, "tags": [{"t": "a"}, {"t": name}]} for name, price in rows]
            self.say(json.dumps({"shop": {"items": items}}))
        elif self.path == "/die":
            os._exit(3)
        elif self.path == "/large":
            self.say("x" * 2_000_000)
        elif self.path.startswith("/reach?"):
            with socket.socket() as out:
                gone = out.connect_ex(("127.0.0.1", int(self.path.partition("?")[2])))
            self.say("refused" if gone else "reached")
        else:
            self.say(open(DATA + "/greeting.txt").read())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        is_json = self.headers["Content-Type"] == "application/json"
        fields = json.loads(body) if is_json else dict(urllib.parse.parse_qsl(body))
        connection = database()
        connection.execute("INSERT INTO items (name, price) VALUES (:name, :price)", fields)
        connection.execute("INSERT INTO log (text) VALUES ('added')")
        connection.commit()
        self.say("added")

    def say(self, text):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        pass


if MODE == "broken":
    sys.exit("tiny: no such table of contents")
if MODE == "mute":
    print("tiny: thinking", flush=True)
    time.sleep(60)
if MODE == "counting":
    connection = database()
    connection.execute("INSERT INTO log (text) VALUES ('started')")
    connection.commit()
http.server.ThreadingHTTPServer((HOST, PORT), Handler).serve_forever()
"""

SEED = """
CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL);
CREATE TABLE log (id INTEGER PRIMARY KEY, text TEXT);
INSERT INTO items (name, price) VALUES ('lamp', 12.5), ('chair', 40.0);
"""

ENTRY: dict[str, object] = {
    "app_id": "tiny",
    "title": "Tiny",
    "version": "1.0",
    "platform": "web",
    "licence": "Apache-2.0",
    "install": {"kind": "pip", "requirements": ["tinyapp==1.0"]},
    "files": {"greeting.txt": "Tiny app {of} the {data}"},
    "seed": [
        {"script": "seed.sql", "into": "tiny.db"},
        ["{bin}/python", "-c", "open('notes.txt', 'w').write('a\\nb\\n')"],
    ],
    "start": ["{bin}/python", "-m", "tinyapp", "127.0.0.1", "{port}", "{data}"],
    "ready": {"path": "/", "contains": "Tiny app {of}", "seconds": 10},
    "state": [
        {"kind": "sqlite", "path": "tiny.db"},
        {"kind": "lines", "path": "notes.txt"},
        {"kind": "files", "path": "uploads"},
    ],
    "bookkeeping": ["log/*"],
    "reset": "in_place",
    "probes": {
        "price": {"kind": "sqlite", "path": "tiny.db", "query": "SELECT price FROM items WHERE name = :name"},
        "remove": {"kind": "sqlite", "path": "tiny.db", "query": "DELETE FROM items"},
        "api": {"kind": "http_json", "path": "/items", "rows": "shop.items", "select": ["name", "price", "tags.t"]},
        "dear": {
            "kind": "http_json",
            "path": "/items",
            "rows": "shop.items",
            "select": ["name"],
            "where": {"price": "{price}"},
        },
        "nowhere": {"kind": "http_json", "path": "/items", "select": ["name"]},
        "line": {"kind": "file", "path": "notes.txt", "pattern": "(?m)^({text})$"},
        "outside": {"kind": "file", "path": "../{name}", "pattern": "."},
        "page": {"kind": "page", "script": "find({what})"},
    },
}


def make_entry(folder: Path, **changes: object) -> AppEntry:
    """The entry with its wheel, lock and seed in `folder`, some fields changed."""
    wheel = _wheel(folder)
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (folder / "requirements.lock").write_text(f"tinyapp @ {wheel.as_uri()} --hash=sha256:{sha256}\n")
    (folder / "seed.sql").write_text(SEED)
    return AppEntry.model_validate({**ENTRY, "folder": folder, **changes})


def _wheel(folder: Path) -> Path:
    wheel = folder / "tinyapp-1.0-py3-none-any.whl"
    info = "tinyapp-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(zipfile.ZipInfo("tinyapp.py"), PROGRAM)
        archive.writestr(zipfile.ZipInfo(f"{info}/METADATA"), "Metadata-Version: 2.1\nName: tinyapp\nVersion: 1.0\n")
        archive.writestr(
            zipfile.ZipInfo(f"{info}/WHEEL"),
            "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD"), f"tinyapp.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n")
    return wheel
