"""What our call of a model costs beside a bare HTTP POST of the same request, with 32 in flight.

    python bench/llm.py
    python bench/llm.py --calls 640 --delay 0.5

Both sides ask one scripted endpoint, a process of its own, with a text and the last three pictures of a history, as a
policy does: first one that replies at once, then one that takes `--delay` seconds. The bare side is `httpx` posting the
same data with its pictures encoded beforehand, and reading the JSON of the answer; ours includes the encoding, the
limiter, the row and the typed reply. Sides take turns; ratios are those of the medians. The last line has milliseconds
per call, the larger of the two ratios, and how many pictures were encoded for how many shown.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import hashlib
import io
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

import httpx
import numpy as np
from PIL import Image as Pictures

if not __package__:  # started by path: import from the repository root
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from pipeline.llm import Client, Endpoint, LocalLimiter, Message, Picture, PictureEncoder
from pipeline.records import ModelCall

SHOWN = 3
"""Pictures of one request."""
SIZE = (1280, 720)
INSTRUCTION = "Click on the button that saves the form. " * 50


class Options(NamedTuple):
    """What is measured."""

    calls: int
    in_flight: int
    rounds: int
    delay: float
    frames: int


class Result(NamedTuple):
    """Median milliseconds per call of each side; pictures encoded and shown."""

    ours: float
    bare: float
    encoded: int
    shown: int

    @property
    def ratio(self) -> float:
        """Ours over bare."""
        return self.ours / self.bare


def frames(count: int) -> list[Picture]:
    """Distinct screens: flat areas with a noisy patch, about as large as real ones."""
    noise = np.random.default_rng(0)
    found = []
    for index in range(count):
        pixels = np.full((SIZE[1], SIZE[0], 3), 40 + index, dtype=np.uint8)
        pixels[:180, :180] = noise.integers(0, 255, (180, 180, 3), dtype=np.uint8)
        out = io.BytesIO()
        Pictures.fromarray(pixels).save(out, "PNG")
        found.append(Picture(hashlib.sha256(out.getvalue()).hexdigest(), out.getvalue(), *SIZE))
    return found


def history(screens: list[Picture], index: int) -> list[Picture]:
    """The pictures of the request with this number."""
    return [screens[(index + back) % len(screens)] for back in range(SHOWN)]


@contextmanager
def scripted_endpoint(delay: float) -> Iterator[str]:
    """The address of a scripted endpoint in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.yaml"
        script.write_text(f"replies: [{{text: hello, times: null, delay_seconds: {delay}}}]")
        command = [sys.executable, "-m", "pipeline.scripted_endpoint", "--script", str(script)]
        root = Path(__file__).resolve().parent.parent
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
            try:
                assert process.stdout is not None
                yield process.stdout.readline().strip()
            finally:
                process.terminate()


async def seconds_of(call: Callable[[int], Awaitable[object]], options: Options) -> float:
    """How long it takes to make every call, so many at a time."""
    numbers = iter(range(options.calls))

    async def work() -> None:
        for number in numbers:
            await call(number)

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(options.in_flight)))
    return time.perf_counter() - started


def result(options: Options) -> Result:
    """Both sides against an endpoint of this delay."""
    with scripted_endpoint(options.delay) as address:
        return asyncio.run(measured(address, options))


async def measured(address: str, options: Options) -> Result:
    """Both sides in turn, after a warm-up."""
    screens, ledger, encoder = frames(options.frames), list[ModelCall](), PictureEncoder()
    urls = {p.sha256: f"data:image/png;base64,{base64.b64encode(p.png).decode('ascii')}" for p in screens}
    endpoint = Endpoint(base_url=address, model="scripted", in_flight=options.in_flight)
    limiter = LocalLimiter(options.in_flight, endpoint.lease_seconds)
    limits = httpx.Limits(max_connections=None)
    async with Client(endpoint, limiter, encoder=encoder) as client, httpx.AsyncClient(limits=limits) as bare:

        async def ours(number: int) -> None:
            prompt = [Message("user", (INSTRUCTION, *history(screens, number)))]
            reply = await client.ask(prompt, stage="act", ledger=ledger, max_tokens=100)
            assert reply.text == "hello"

        async def plain(number: int) -> None:
            shown = [{"type": "image_url", "image_url": {"url": urls[p.sha256]}} for p in history(screens, number)]
            message = {"role": "user", "content": [{"type": "text", "text": INSTRUCTION}, *shown]}
            body = {"model": "scripted", "messages": [message], "max_tokens": 100}
            answer = await bare.post(f"{address}/chat/completions", json=body, headers={"Authorization": "Bearer none"})
            assert answer.json()["choices"][0]["message"]["content"] == "hello"

        await seconds_of(plain, options._replace(calls=options.in_flight))
        times: dict[str, list[float]] = {"ours": [], "bare": []}
        for _ in range(options.rounds):
            times["ours"].append(await seconds_of(ours, options))
            times["bare"].append(await seconds_of(plain, options))
    ours_ms, bare_ms = (1000 * median(times[side]) / options.calls for side in ("ours", "bare"))
    return Result(ours_ms, bare_ms, encoder.encoded, SHOWN * len(ledger))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=320, help="per side and round")
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--delay", type=float, default=0.1, help="seconds the endpoint takes for a reply")
    parser.add_argument("--frames", type=int, default=20, help="distinct pictures")
    options = Options(**vars(parser.parse_args()))
    at_once, later = (result(options._replace(delay=delay)) for delay in (0.0, options.delay))
    print(
        f"ours_ms={at_once.ours:.2f} bare_ms={at_once.bare:.2f} delay_s={options.delay:g}"
        f" ours_delayed_ms={later.ours:.2f} bare_delayed_ms={later.bare:.2f} distinct={options.frames}"
        f" encoded={later.encoded} shown={later.shown} overhead_ratio={max(at_once.ratio, later.ratio):.3f}"
    )


if __name__ == "__main__":
    main()
