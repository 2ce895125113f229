"""Scores of pages, the polite visitor, and the survey that goes on where it stopped; all on a web server of our own."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from catalogs.scoring import SiteScore, facts_of, scores_of, visual_of
from catalogs.survey import Surveyed, read_scores, survey
from catalogs.visitor import Declined, Visit, Visitor
from pipeline.cli import app_for
from pipeline.commands.shell import run
from pipeline.errors import ConfigError
from pipeline.ports import free_port
from tests.webserver import Reply, Request, WebServer, page, redirect

FULL = (
    "<!doctype html><h1>Lamps</h1><script>let a = 'many many hidden words'</script><p>"
    + "A lamp for every room. " * 40
    + "<a href='/a'>More</a> <img src=x> <button>Search</button> <input name=q> <input type=hidden> <time>Now</time>"
)


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as running:
        running.answers["/"] = page(FULL)
        yield running


def robots(text: str) -> Reply:
    return Reply(body=text.encode(), headers=(("Content-Type", "text/plain"),))


async def visited(server: WebServer, pause_seconds: float = 0.0) -> Visit | Declined:
    async with Visitor([server.address], pause_seconds) as visitor:
        return await visitor.front_page(server.address)


def surveyed(file: Path, *domains: str, look: bool = False) -> Surveyed:
    told: list[SiteScore] = []
    return survey(domains, file, look=look, pause_seconds=0.0, tell=told.append)


def unused_address() -> str:
    return f"127.0.0.1:{free_port()}"


# --- what a page says ---------------------------------------------------------------------------------------------


def test_a_page_is_counted_as_it_shows() -> None:
    facts = facts_of(FULL)

    assert facts.words == 1 + 5 * 40 + 1 + 1 + 1
    assert (facts.links, facts.controls, facts.pictures, facts.headings, facts.scripts, facts.moving) == (
        1,
        2,
        1,
        1,
        1,
        1,
    )


def test_han_characters_are_words() -> None:
    assert facts_of("<p>欢迎光临 Lamps</p>").words == 5


def test_more_of_everything_scores_higher_and_never_above_one() -> None:
    little, much = scores_of(200, facts_of(FULL)), scores_of(200, facts_of(FULL * 50))

    for name in ("dynamism", "interactivity", "richness"):
        assert 0 < getattr(little, name) < getattr(much, name) <= 1


@pytest.mark.parametrize(
    ("status", "html", "liveness", "accessibility"),
    [
        (200, FULL, 1.0, 1.0),
        (403, FULL, 0.5, 0.0),
        (404, FULL, 0.0, 0.0),
        (503, FULL, 0.0, 0.0),
        (200, "<p>Please verify you are human", 1.0, 0.0),
        (200, "<p>请完成人机验证", 1.0, 0.0),
        (200, FULL + "a captcha protects our forms", 1.0, 1.0),
        (200, "<input><input type=password>Sign in", 1.0, 0.25),
        (200, "<p>This domain is for sale!", 0.0, 0.0),
    ],
)
def test_whether_a_visitor_gets_in(status: int, html: str, liveness: float, accessibility: float) -> None:
    scores = scores_of(status, facts_of(html))

    assert (scores.liveness, scores.accessibility) == (liveness, accessibility)
    assert (scores.overall > 0) == (accessibility > 0)


@given(st.text(alphabet="<>![]-/?& a=\"'scriptCDATA;#x", max_size=60))
@settings(deadline=None)
def test_a_broken_page_is_a_page(html: str) -> None:
    assert 0 <= scores_of(200, facts_of(html)).richness <= 1


@pytest.mark.parametrize("piece", ["<a ", "<p/", "<!--", "<script>", "<a href='", "<", "&#"])
def test_a_hostile_page_is_read_in_no_time(piece: str) -> None:
    began = time.process_time()

    facts_of(piece * (2_000_000 // len(piece)))

    assert time.process_time() - began < 5


@pytest.mark.parametrize("html", ["<p>words<![x[ more", "<!x <p>", "<![CDATA[ a", "<p <<a href=x>b</ <!-- x", ""])
def test_a_malformed_declaration_ends_no_survey(html: str) -> None:
    assert facts_of(html).passwords == 0


def png(image: Image.Image) -> bytes:
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def test_a_picture_with_more_in_it_scores_higher() -> None:
    blank = Image.new("RGB", (640, 400), "white")
    drawn = blank.copy()
    for number in range(40):
        corner = (number * 16, number * 9)
        ImageDraw.Draw(drawn).rectangle((*corner, corner[0] + 60, corner[1] + 30), f"hsl({number * 9}, 80%, 50%)")

    assert visual_of(png(blank)) == 0.0
    assert 0.2 < (visual_of(png(drawn)) or 0) <= 1.0
    assert visual_of(b"no picture") is None


# --- the visitor --------------------------------------------------------------------------------------------------


async def test_the_visitor_says_who_it_is_and_asks_robots_first(server: WebServer) -> None:
    visit = await visited(server)

    assert isinstance(visit, Visit)
    assert (visit.status, visit.text) == (200, FULL)
    assert server.paths() == ["/robots.txt", "/"]
    assert all(request.headers["user-agent"].startswith("pathproof/") for request in server.requests)


@pytest.mark.parametrize(
    "text", ["User-agent: *\nDisallow: /", "User-agent: pathproof\nDisallow: /\n\nUser-agent: *\nAllow: /"]
)
async def test_a_site_that_asks_not_to_be_read_is_not(server: WebServer, text: str) -> None:
    server.answers["/robots.txt"] = robots(text)

    visit = await visited(server)

    assert isinstance(visit, Declined)
    assert visit.outcome == "robots"
    assert "/" not in server.paths()


@pytest.mark.parametrize("line", ["Disallow: //[", "Crawl-delay: \u00b2", "Crawl-delay: " + "9" * 5000])
async def test_a_rule_that_cannot_be_read_leaves_the_others(server: WebServer, line: str) -> None:
    server.answers["/robots.txt"] = robots(f"User-agent: *\n{line}\nDisallow: /")

    visit = await visited(server)

    assert isinstance(visit, Declined)
    assert visit.outcome == "robots"


async def test_a_pause_of_any_length_is_a_number(server: WebServer) -> None:
    server.answers["/robots.txt"] = robots(f"User-agent: *\nCrawl-delay: {'9' * 400}\nDisallow: /")

    assert isinstance(await visited(server), Declined)


@pytest.mark.parametrize("target", ["http://[", "//[::1", "http://%5B@SERVER/"])
async def test_a_redirect_to_no_address_is_declined(server: WebServer, target: str) -> None:
    server.answers["/"] = redirect(target.replace("SERVER", server.address))

    assert isinstance(await visited(server), Declined)
    assert server.paths().count("/") == 1


async def test_rules_for_others_do_not_concern_us(server: WebServer) -> None:
    server.answers["/robots.txt"] = robots("User-agent: otherbot\nDisallow: /\n\nUser-agent: *\nDisallow: /private")

    assert isinstance(await visited(server), Visit)


async def test_a_site_that_cannot_say_its_rules_is_not_read(server: WebServer) -> None:
    server.answers["/robots.txt"] = Reply(503)

    visit = await visited(server)

    assert isinstance(visit, Declined)
    assert visit.outcome == "robots"


async def test_where_a_redirect_leads_has_rules_too(server: WebServer) -> None:
    server.answers["/"] = redirect("/private/home")
    server.answers["/robots.txt"] = robots("User-agent: *\nDisallow: /private")

    visit = await visited(server)

    assert isinstance(visit, Declined)
    assert visit.outcome == "robots"


async def test_a_redirect_within_the_site_is_followed(server: WebServer) -> None:
    server.answers["/"] = redirect("/home")
    server.answers["/home"] = page("<p>home")

    visit = await visited(server)

    assert isinstance(visit, Visit)
    assert visit.url == f"{server.url}/home"


async def test_a_redirect_to_another_site_is_not_followed(server: WebServer) -> None:
    with WebServer() as other:
        server.answers["/"] = redirect(f"{other.url}/")

        visit = await visited(server)

        assert isinstance(visit, Declined)
        assert visit.outcome == "moved"
        assert other.requests == []


async def test_redirects_without_end_are_given_up(server: WebServer) -> None:
    server.answers["/"] = redirect("/")

    visit = await visited(server)

    assert isinstance(visit, Declined)
    assert visit.outcome == "unreachable"
    assert server.paths().count("/") == 5


async def test_a_host_is_not_asked_faster_than_it_wants(server: WebServer) -> None:
    times: list[float] = []

    def answer(request: Request) -> Reply:
        times.append(time.monotonic())
        return robots("User-agent: *\nCrawl-delay: 1") if request.path == "/robots.txt" else page(FULL)

    server.answers["/robots.txt"] = server.answers["/"] = answer

    await visited(server, pause_seconds=0.1)

    first, second = times
    assert second - first >= 0.9


# --- the survey ---------------------------------------------------------------------------------------------------


def test_sites_are_scored_into_a_file(server: WebServer, tmp_path: Path) -> None:
    file = tmp_path / "scores.jsonl"

    result = surveyed(file, server.address)

    score = read_scores(file)[0]
    assert result == Surveyed(known=0, checked=1, offline=False)
    assert (score.domain, score.outcome, score.status) == (server.address, "scored", 200)
    assert score.scores is not None
    assert score.scores.visual is None


def test_a_site_in_the_file_is_not_asked_again(server: WebServer, tmp_path: Path) -> None:
    file = tmp_path / "scores.jsonl"
    surveyed(file, server.address)
    before = file.read_bytes()
    server.requests.clear()

    result = surveyed(file, server.address, server.address)

    assert result == Surveyed(known=1, checked=0, offline=False)
    assert server.requests == []
    assert file.read_bytes() == before


def test_a_line_cut_short_is_made_again(server: WebServer, tmp_path: Path) -> None:
    file = tmp_path / "scores.jsonl"
    surveyed(file, server.address)
    file.write_bytes(file.read_bytes()[:-20])

    result = surveyed(file, server.address)

    assert result.checked == 1
    assert [score.domain for score in read_scores(file)] == [server.address]


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"a": 1}\n', encoding="utf-8")

    with pytest.raises(ConfigError, match="x:1: "):
        read_scores(tmp_path / "x")


def test_offline_nothing_is_said_about_any_site(tmp_path: Path) -> None:
    file = tmp_path / "scores.jsonl"

    result = surveyed(file, unused_address(), unused_address())

    assert result == Surveyed(known=0, checked=0, offline=True)
    assert not file.exists()


def test_a_dead_site_is_one_where_another_answers(server: WebServer, tmp_path: Path) -> None:
    file, dead = tmp_path / "scores.jsonl", unused_address()

    surveyed(file, dead, server.address)

    assert {(score.domain, score.outcome) for score in read_scores(file)} == {
        (dead, "unreachable"),
        (server.address, "scored"),
    }


def test_a_browser_scores_what_scripts_have_made_of_the_page(server: WebServer, tmp_path: Path) -> None:
    server.answers["/"] = page(
        "<!doctype html><body><script>for (let i = 0; i < 20; i++) document.body.append("
        "Object.assign(document.createElement('button'), {textContent: 'Button ' + i}))</script>"
    )
    plain, seen = tmp_path / "plain.jsonl", tmp_path / "seen.jsonl"

    surveyed(plain, server.address)
    surveyed(seen, server.address, look=True)

    without, looked = read_scores(plain)[0].scores, read_scores(seen)[0].scores
    assert without is not None
    assert looked is not None
    assert without.interactivity == 0.0
    assert looked.interactivity > 0.5
    assert looked.visual is not None


# --- the command --------------------------------------------------------------------------------------------------


def test_show_says_that_nothing_was_checked_offline(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pipeline.commands.catalogs.survey", lambda *_, **__: Surveyed(0, 0, offline=True))

    code = run(app_for(), ["catalog", "show", "web", "--limit", "1", "--score", str(tmp_path / "none.jsonl")])

    captured = capsys.readouterr()
    assert (code, captured.out) == (1, "")
    assert "nothing was checked" in captured.err


def test_show_lists_what_is_in_the_file_best_first(
    server: WebServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scores.jsonl"
    surveyed(file, server.address)
    scored = read_scores(file)[0]
    gone = SiteScore(domain="google.com", checked_at=scored.checked_at, outcome="robots")
    rows = [gone, scored.model_copy(update={"domain": "facebook.com"})]
    file.write_text("".join(f"{row.model_dump_json()}\n" for row in rows), encoding="utf-8")

    code = run(app_for(), ["catalog", "show", "web", "--limit", "2", "--score", str(file)])

    lines = [line.split("\t")[:2] for line in capsys.readouterr().out.splitlines()]
    assert code == 0
    assert lines == [["facebook.com", "scored"], ["google.com", "robots"]]


def test_only_web_sites_can_be_visited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app_for(), ["catalog", "show", "mobile", "--score", str(tmp_path / "x")]) == 2
    assert "--score" in capsys.readouterr().err
