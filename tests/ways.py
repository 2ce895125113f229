"""Ways in which a page may try to reach another server, for tests.

In each, OTHER is that server's address with a scheme, HOST the same without one, OWN the page's own server. Where the
way can carry a path, the path is the name of the way, so that both servers' logs tell which ways were gone.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.webserver import Reply, WebServer, page


class Ways(NamedTuple):
    """Pieces of a page by the name of the way they go."""

    by_path: dict[str, str]
    """A web request: its address tells the way."""
    by_word: dict[str, str]
    """No web request, or none that tells: the page pushes the way's name to `tried` when it has come to an end."""
    silent: dict[str, str]
    """The browser may leave it, and nobody is told; what each needs to be gone is another matter for each."""


def _framed(document: str) -> str:
    """A document within the page."""
    return f"<iframe srcdoc='{document}'></iframe>"


def _tried(name: str, made: str, ends: str = "onerror") -> str:
    return f"<script>(() => {{ const it = {made}; it.{ends} = () => tried.push('{name}') }})()</script>"


def _worker(name: str, kind: str, body: str) -> str:
    return f"<script>new {kind}(URL.createObjectURL(new Blob([`{body}`], {{type: 'text/javascript'}})))</script>"


def _in_head(relation: str) -> str:
    """A link where the browser looks for it: not in the middle of a page."""
    made = f"Object.assign(document.createElement('link'), {{ rel: '{relation}', href: 'OTHER/{relation}' }})"
    return f"<script>document.head.append({made})</script>"


_RTC = """<script>(async () => {
  const server = (urls) => ({ urls, username: 'u', credential: 'c' });
  const peer = new RTCPeerConnection({ iceServers: [server(ADDRESSES)] });
  peer.createDataChannel('x');
  peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && tried.push('NAME');
  await peer.setLocalDescription(await peer.createOffer());
})()</script>"""


def _rtc(name: str, *addresses: str) -> str:
    return _RTC.replace("ADDRESSES", str(list(addresses))).replace("NAME", name)


WAYS = Ways(
    by_path={
        "img": "<img src='OTHER/img'>",
        "srcset": "<img srcset='OTHER/srcset 1x'>",
        "input-image": "<input type=image src='OTHER/input-image'>",
        "svg-image": "<svg><image href='OTHER/svg-image'/></svg>",
        "script": "<script src='OTHER/script'></script>",
        "module": "<script type=module>import('OTHER/module')</script>",
        "css": "<link rel=stylesheet href='OTHER/css'>",
        "css-import": "<style>@import url('OTHER/css-import');</style>",
        "background": "<p style=\"background: url('OTHER/background')\">b</p>",
        "font": "<style>@font-face { font-family: far; src: url('OTHER/font') }</style><p style='font-family: far'>f",
        "preload": "<link rel=preload as=image href='OTHER/preload'>",
        "prefetch": "<link rel=prefetch href='OTHER/prefetch'>",
        "fetch": "<script>fetch('OTHER/fetch', { mode: 'no-cors' })</script>",
        "keepalive": "<script>fetch('OTHER/keepalive', { mode: 'no-cors', keepalive: true })</script>",
        "preflight": "<script>fetch('OTHER/preflight', { method: 'PUT', headers: { 'X-A': '1' } })</script>",
        "xhr": "<script>const x = new XMLHttpRequest(); x.open('POST', 'OTHER/xhr'); x.send('s')</script>",
        "beacon": "<script>navigator.sendBeacon('OTHER/beacon', 'b')</script>",
        "stream": "<script>new EventSource('OTHER/stream')</script>",
        "image-object": "<script>new Image().src = 'OTHER/image-object'</script>",
        "iframe": "<iframe src='OTHER/iframe'></iframe>",
        "object": "<object data='OTHER/object' type='text/html'></object>",
        "embed": "<embed src='OTHER/embed' type='text/html'>",
        "video": "<video preload=auto src='OTHER/video'></video>",
        "poster": "<video poster='OTHER/poster'></video>",
        "audio": "<audio preload=auto src='OTHER/audio'></audio>",
        "track": "<video crossorigin controls src='/none'><track default src='OTHER/track'></video>",
        "form": _framed("<form action=OTHER/form method=post></form><script>document.forms[0].submit()</script>"),
        "refresh": _framed("<meta http-equiv=refresh content=0;url=OTHER/refresh>"),
        "base": _framed("<base href=OTHER/><img src=base>"),
        "srcdoc": _framed("<img src=OTHER/srcdoc>"),
        "location": _framed("<script>location = `OTHER/location`</script>"),
        "refresh-header": "<iframe src='/refresh-header'></iframe>",
        "link-header": "<iframe src='/link-header'></iframe>",
        "csp-report": "<iframe src='/csp-report'></iframe>",
        "xml-css": "<iframe src='/xml-css'></iframe>",
        "xslt-made": "<iframe src='/xslt-made'></iframe>",
        "icon": _in_head("icon"),
        "redirect-301": "<iframe src='/redirect-301'></iframe>",
        "redirect-302": "<img src='/redirect-302'>",
        "redirect-303": "<script>fetch('/redirect-303', { method: 'POST', body: 'b', mode: 'no-cors' })</script>",
        "redirect-307": "<script>fetch('/redirect-307', { method: 'POST', body: 'b', mode: 'no-cors' })</script>",
        "redirect-308": "<iframe src='/redirect-308'></iframe>",
        "two-hops": "<img src='/two-hops'>",
        "blob-frame": "<iframe id=blob-frame></iframe><script>document.getElementById('blob-frame').src = "
        "URL.createObjectURL(new Blob(['<img src=OTHER/blob-frame>'], { type: 'text/html' }))</script>",
        "data-frame": "<iframe src='data:text/html,<img src=OTHER/data-frame>'></iframe>",
        "javascript-frame": "<iframe src=\"javascript:fetch('OTHER/javascript-frame', { mode: 'no-cors' })\"></iframe>",
        "worker": _worker("worker", "Worker", "fetch('OTHER/worker', { mode: 'no-cors' })"),
        "worker-import": _worker("worker-import", "Worker", "importScripts('OTHER/worker-import')"),
        "shared-worker": _worker("shared-worker", "SharedWorker", "fetch('OTHER/shared-worker', { mode: 'no-cors' })"),
        "service-worker": "<script>navigator.serviceWorker.register('/service-worker')</script>",
    },
    by_word={
        "websocket": _tried("websocket", "new WebSocket('ws://HOST/websocket')"),
        "secure-websocket": _tried("secure-websocket", "new WebSocket('wss://HOST/secure-websocket')"),
        "secure-image": _tried("secure-image", "Object.assign(new Image(), { src: 'https://HOST/secure-image' })"),
        "stun": _rtc("stun", "stun:HOST"),
        "turn": _rtc("turn", "turn:HOST?transport=udp"),
        "turn-tcp": _rtc("turn-tcp", "turn:HOST?transport=tcp"),
        "web-transport": "<script>new WebTransport('https://HOST/t').ready.catch(() => tried.push('web-transport'))"
        "</script>",
    },
    silent={
        "preconnect": "<link rel=preconnect href='OTHER'><link rel=preconnect href='https://HOST'>",
        "dns-prefetch": "<link rel=dns-prefetch href='OTHER'>",
        "manifest": _in_head("manifest"),
        "speculation": '<script type=speculationrules>{"prefetch": [{"urls": ["OTHER/speculation"], '
        '"eagerness": "immediate"}], "prerender": [{"urls": ["OTHER/speculation"], "eagerness": "immediate"}]}'
        "</script>",
        "xslt": "<iframe src='/xslt'></iframe>",
        "pdf": "<embed src='/pdf' type='application/pdf'>",
        "reporting": "<iframe src='/reporting'></iframe>",
        "payment": "<script>new PaymentRequest([{ supportedMethods: 'https://HOST/payment' }], { total: { label: 'x', "
        "amount: { currency: 'EUR', value: '1' } } }).canMakePayment()</script>",
        "identity": "<script>navigator.credentials.get({ identity: { providers: [{ configURL: 'OTHER/identity', "
        "clientId: '1' }] } })</script>",
        "late": "<script>window.fetchLater?.('OTHER/late', { activateAfter: 0 })</script>",
    },
)
_SHEET = """<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>
<xsl:template match='/'><html><body><img src='OTHER/xslt-made'/></body></html></xsl:template>
</xsl:stylesheet>"""
_PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/URI/URI(OTHER/pdf)>>>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj
trailer<</Root 1 0 R>>
%%EOF"""


def page_of(pieces: dict[str, str], other: str) -> str:
    """A page that goes each of these ways as it loads; `other` is the second server's host and port."""
    everything = "".join(pieces.values()).replace("OTHER", f"http://{other}").replace("HOST", other)
    return f"<title>ways</title><script>window.tried = []</script><h1>Ways</h1>{everything}"


def prepare(server: WebServer, other: str) -> None:
    """What the page's own server answers where a way begins there."""
    for status in (301, 302, 303, 307, 308):
        server.answers[f"/redirect-{status}"] = _headed(status, Location=f"http://{other}/redirect-{status}")
    server.answers["/two-hops"] = _headed(302, Location=f"{server.url}/second-hop")
    server.answers["/second-hop"] = _headed(302, Location=f"http://{other}/two-hops")
    server.answers["/refresh-header"] = _headed(200, Refresh=f"0;url=http://{other}/refresh-header")
    server.answers["/link-header"] = _headed(200, Link=f"<http://{other}/link-header>; rel=preload; as=image")
    policy = f"img-src 'none'; report-uri http://{other}/csp-report"
    server.answers["/csp-report"] = page("<img src=/x>")._replace(headers=_headers("text/html", CSP=policy))
    ending = {"Reporting-Endpoints": f'default="https://{other}/reporting"', "CSP": "img-src 'none'; report-to default"}
    server.answers["/reporting"] = page("<img src=/x>")._replace(headers=_headers("text/html", **ending))
    script = f"fetch('http://{other}/service-worker', {{ mode: 'no-cors' }})"
    server.answers["/service-worker"] = page(script)._replace(headers=_headers("text/javascript"))
    server.answers["/sheet"] = page(_SHEET.replace("OTHER", f"http://{other}"))._replace(headers=_headers("text/xsl"))
    sheets = {"xml-css": f"http://{other}/xml-css", "xslt": f"http://{other}/xslt", "xslt-made": "/sheet"}
    for name, sheet in sheets.items():
        kind = "css" if name == "xml-css" else "xsl"
        document = f"<?xml version='1.0'?><?xml-stylesheet type='text/{kind}' href='{sheet}'?><a>x</a>"
        server.answers[f"/{name}"] = page(document)._replace(headers=_headers("text/xml"))
    pdf = _PDF.replace(b"OTHER", f"http://{other}".encode())
    server.answers["/pdf"] = Reply(body=pdf, headers=_headers("application/pdf"))


def _headers(kind: str, **more: str) -> tuple[tuple[str, str], ...]:
    named = {"Content-Security-Policy" if name == "CSP" else name: value for name, value in more.items()}
    return (("Content-Type", kind), *named.items())


def _headed(status: int, **headers: str) -> Reply:
    return Reply(status, b"<p>x", _headers("text/html", **headers))
