"""Makes the site of a museum: the `first` and the `second` half of the tables, then the `content`.

Run in the data folder by the application's own Python. Times, random numbers and identities follow fixed sequences, so
that every copy is the same.
"""

from __future__ import annotations

import datetime
import importlib
import io
import itertools
import random
import sys
import uuid
from collections.abc import Sequence
from typing import Any

BEGIN = datetime.datetime(2025, 3, 3, 9, 0, tzinfo=datetime.UTC)
HALFWAY = "0078"
"""A step in the history of Wagtail's tables."""

# Title, path of the parent below home, model, fields, published or not.
PAGES: Sequence[tuple[str, str, str, dict[str, Any], bool]] = (
    ("Exhibitions", "", "PlainPage", {"intro": "What can be seen now and soon."}, True),
    ("News", "", "PlainPage", {"intro": "What happens at the harbour."}, True),
    ("Visit", "", "PlainPage", {"intro": "Opening hours, tickets and the way to the quay."}, True),
    ("Archive", "", "PlainPage", {"intro": "Earlier exhibitions and news."}, True),
    ("Tickets", "visit", "PlainPage", {"intro": "Day tickets, family tickets and the yearly pass."}, True),
    ("Getting here", "visit", "PlainPage", {"intro": "Tram 4 to Old Quay, then three minutes on foot."}, True),
    ("Guided tours", "visit", "PlainPage", {"intro": "Every Sunday at eleven, in two languages."}, False),
    (
        "Knots and Ropes",
        "exhibitions",
        "ExhibitionPage",
        {
            "intro": "How rope is made, and sixty knots to try.",
            "room": "Sail loft",
            "opens": "2025-04-12",
            "price": "6.50",
        },
        True,
    ),
    (
        "Lighthouses of the North",
        "exhibitions",
        "ExhibitionPage",
        {"intro": "Lenses, keepers and storms.", "room": "Tower room", "opens": "2025-05-24", "price": "8.00"},
        True,
    ),
    (
        "The Last Steam Tug",
        "exhibitions",
        "ExhibitionPage",
        {
            "intro": "A tug of 1931 and the people who kept it.",
            "room": "Boat yard",
            "opens": "2025-03-15",
            "price": "5.00",
        },
        True,
    ),
    (
        "Maps of Imaginary Islands",
        "exhibitions",
        "ExhibitionPage",
        {"intro": "Charts of places that nobody found.", "room": "Quay hall", "opens": "2025-09-06", "price": "7.50"},
        False,
    ),
    (
        "Children Draw the Sea",
        "exhibitions",
        "ExhibitionPage",
        {
            "intro": "Two hundred drawings from six schools.",
            "room": "Quay hall",
            "opens": "2025-06-14",
            "price": "0.00",
        },
        True,
    ),
    (
        "Night of the Open Hatches",
        "news",
        "NewsPage",
        {"intro": "Eleven ships open their holds until midnight.", "topic": "Events"},
        True,
    ),
    (
        "A figurehead comes home",
        "news",
        "NewsPage",
        {"intro": "The figurehead of the brig Aurelia is back after ninety years.", "topic": "Collection"},
        True,
    ),
    (
        "The lift is being repaired",
        "news",
        "NewsPage",
        {"intro": "Until the end of May the tower can be reached by the stairs only.", "topic": "Building"},
        True,
    ),
    (
        "Summer workshop for young sailors",
        "news",
        "NewsPage",
        {"intro": "Five afternoons of splicing, sailing and signal flags.", "topic": "Events"},
        True,
    ),
    (
        "New shelves in the reading room",
        "news",
        "NewsPage",
        {"intro": "Four thousand logbooks find a dry place.", "topic": "Building"},
        False,
    ),
    (
        "A diver's helmet from 1912",
        "news",
        "NewsPage",
        {"intro": "A gift of the family of a harbour diver.", "topic": "Collection"},
        True,
    ),
    ("Winter market 2024", "archive", "NewsPage", {"intro": "Forty stalls on the quay.", "topic": "Events"}, True),
)
NOTICES = (
    ("The cafe closes at four on Mondays", "Information", True),
    ("The tower is closed in strong wind", "Closure", True),
    ("Mind the wet steps at the quay", "Warning", False),
    ("Free admission on the first Sunday of June", "Information", False),
)
PEOPLE = (
    ("Henrike Aldous", "Director", "henrike@tidewater.example"),
    ("Tomas Okafor", "Curator of ships", "tomas@tidewater.example"),
    ("Mei Lindqvist", "Restorer", "mei@tidewater.example"),
    ("Ravi Castellan", "Visitor services", "ravi@tidewater.example"),
    ("Ana Brandt", "Librarian", "ana@tidewater.example"),
)
USERS = (
    ("nora", "Nora", "Fielding", True, ""),
    ("paul", "Paul", "Wierzba", False, "Editors"),
    ("samira", "Samira", "Holt", False, "Moderators"),
)
COLLECTIONS = ("Posters", "Ship portraits", "Press")
# Title, collection, colours of sea and sky, tags.
IMAGES = (
    ("Steam tug at the quay", "Ship portraits", "#2b4a66", "#e7d8b1", ("tug", "quay")),
    ("Lighthouse in fog", "Posters", "#5f7480", "#dfe5e8", ("lighthouse",)),
    ("Rope workshop", "Posters", "#6b4a2b", "#f1e6d2", ("rope",)),
    ("Brig Aurelia", "Ship portraits", "#1d3557", "#f4a261", ("brig", "sail")),
    ("Reading room", "Press", "#4f5d2f", "#e9edc9", ()),
    ("Old crane", "Root", "#3d405b", "#e07a5f", ("crane", "quay")),
)
# Title, file name, collection, text.
DOCUMENTS = (
    ("Price list 2025", "price-list-2025.txt", "Press", "Adults 9.00\nFamilies 20.00\nYearly pass 48.00\n"),
    ("House rules", "house-rules.txt", "Root", "Please do not climb on the anchors.\n"),
    ("Press release steam tug", "press-tug.txt", "Press", "The last steam tug of the harbour opens its engine room.\n"),
    ("Loan form", "loan-form.txt", "Root", "Object, lender, from, until, insured for.\n"),
)
REDIRECTS = (
    ("/tickets", "visit/tickets", True),
    ("/tug", "exhibitions/the-last-steam-tug", False),
    ("/open-hatches", "news/night-of-the-open-hatches", True),
)


def fix_chance(seed: str) -> None:
    """Replace the sources of times and identities; models keep references to them, so none may be loaded yet."""
    chance, minutes = random.Random(seed), itertools.count()
    timezone = importlib.import_module("django.utils.timezone")
    vars(uuid)["uuid4"] = lambda: uuid.UUID(int=chance.getrandbits(128), version=4)
    vars(timezone)["now"] = lambda: BEGIN + datetime.timedelta(minutes=next(minutes))


def make_tables(half: str) -> None:
    """Every table, and the rows that the application begins with; in halves, for each step of a seed has its limit."""
    call_command = importlib.import_module("django.core.management").call_command
    if half == "first":
        call_command("makemigrations", "museum", verbosity=0)
        call_command("migrate", "wagtailcore", HALFWAY, verbosity=0)
    else:
        call_command("migrate", verbosity=0)


def make_people() -> Any:
    """Editors, and their settings, which would else be made at their first visit; the one everybody is."""
    auth = importlib.import_module("django.contrib.auth.models")
    profiles = importlib.import_module("wagtail.users.models").UserProfile
    for name, first, last, may_all, group in USERS:
        user = auth.User.objects.create(
            username=name,
            first_name=first,
            last_name=last,
            email=f"{name}@tidewater.example",
            password="!",
            is_superuser=may_all,
            date_joined=BEGIN,
        )
        user.groups.set(auth.Group.objects.filter(name=group))
        profiles.objects.create(user=user, current_time_zone="UTC")
    return auth.User.objects.get(username="nora")


def make_pages(editor: Any) -> dict[str, Any]:
    """The pages, each with one revision; by their path below home."""
    models = importlib.import_module("museum.models")
    core = importlib.import_module("wagtail.models")
    core.Site.objects.all().delete()
    root = core.Page.objects.get(depth=1)
    for page in root.get_children():
        page.delete()
    root.refresh_from_db()
    home = root.add_child(instance=models.PlainPage(title="Tidewater Museum", slug="home", intro="Ships and people."))
    core.Site.objects.create(hostname="localhost", root_page=home, is_default_site=True, site_name="Tidewater Museum")
    found = {"": home}
    for title, above, model, fields, live in PAGES:
        parent = found[above]
        parent.refresh_from_db()
        page = parent.add_child(
            instance=getattr(models, model)(title=title, slug=slug_of(title), live=live, owner=editor, **fields)
        )
        found[f"{above}/{page.slug}".strip("/")] = page
    for page in found.values():
        page.refresh_from_db()
        revision = page.save_revision(user=editor, log_action=True)
        if page.live:
            revision.publish(user=editor)
    return found


def slug_of(title: str) -> str:
    """The title as it is spelt in addresses."""
    slug: str = importlib.import_module("django.utils.text").slugify(title)
    return slug


def make_snippets(editor: Any) -> None:
    """Notices, staff and how the museum is reached."""
    models = importlib.import_module("museum.models")
    site = importlib.import_module("wagtail.models").Site.objects.get()
    for text, level, active in NOTICES:
        models.Notice.objects.create(text=text, level=level, active=active)
    for name, job, email in PEOPLE:
        person = models.Person.objects.create(name=name, job=job, email=email)
        person.save_revision(user=editor).publish(user=editor)
    models.VisitorInformation.objects.create(
        site=site, phone="+44 20 7946 0112", address="4 Old Quay, Tidewater", hours="Tuesday to Sunday, ten to six"
    )


def make_files(editor: Any) -> None:
    """Pictures and papers in their collections."""
    core = importlib.import_module("wagtail.models")
    image_model = importlib.import_module("wagtail.images.models").Image
    document_model = importlib.import_module("wagtail.documents.models").Document
    content_file = importlib.import_module("django.core.files.base").ContentFile
    root = core.Collection.objects.get(depth=1)
    places = {"Root": root} | {name: root.add_child(name=name) for name in COLLECTIONS}
    for title, place, sea, sky, tags in IMAGES:
        file = content_file(drawn(sea, sky), name=f"{slug_of(title)}.gif")
        image = image_model(title=title, collection=places[place], file=file, uploaded_by_user=editor)
        image.save()
        image.tags.add(*tags)
    for title, name, place, text in DOCUMENTS:
        file = content_file(text.encode(), name=name)
        document_model.objects.create(title=title, collection=places[place], file=file, uploaded_by_user=editor)


def drawn(sea: str, sky: str) -> bytes:
    """A picture of a sun over the sea, in a format whose bytes do not depend on the machine."""
    image = importlib.import_module("PIL.Image").new("RGB", (320, 200), sky)
    pen = importlib.import_module("PIL.ImageDraw").Draw(image)
    pen.rectangle((0, 120, 320, 200), fill=sea)
    pen.rectangle((60, 60, 110, 110), fill="#ffffff")
    buffer = io.BytesIO()
    image.quantize(8).save(buffer, format="GIF")
    return buffer.getvalue()


def make_redirects(pages: dict[str, Any]) -> None:
    """Short addresses that lead to pages."""
    redirect = importlib.import_module("wagtail.contrib.redirects.models").Redirect
    for old, target, permanent in REDIRECTS:
        redirect.objects.create(old_path=old, redirect_page=pages[target], is_permanent=permanent)


def make_content() -> None:
    """All that the museum has written, in an order that later rows depend on."""
    editor = make_people()
    pages = make_pages(editor)
    make_snippets(editor)
    make_files(editor)
    make_redirects(pages)


def main(step: str) -> None:
    """One of the three steps."""
    fix_chance(step)
    importlib.import_module("django").setup()
    if step == "content":
        make_content()
    else:
        make_tables(step)


if __name__ == "__main__":
    main(sys.argv[1])
