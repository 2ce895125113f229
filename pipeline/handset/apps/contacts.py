"""Contacts: people with numbers and addresses, favourites and groups."""

from __future__ import annotations

import re

from pipeline.handset.apps.acts import flipping, keep, naming, removing
from pipeline.handset.apps.app import App, Asked, Done, Shown
from pipeline.handset.packages import Package

_FIELDS = ("name", "phone", "email", "company", "note")
_PHONE = re.compile(r"[+0-9 ()/-]{3,}")
_ORDER = "ORDER BY name COLLATE NOCASE, _id"


def _list(asked: Asked) -> Shown:
    words, favourites = asked.field("q"), asked.field("tab") == "favourites"
    contacts = asked.data.rows(
        "SELECT * FROM contacts WHERE (? = 0 OR favourite = 1) AND"
        " (name LIKE '%' || ? || '%' OR replace(phone, ' ', '') LIKE '%' || replace(?, ' ', '') || '%'"
        f" OR company LIKE '%' || ? || '%') {_ORDER}",
        int(favourites),
        words,
        words,
        words,
    )
    return Shown("list.html", {"contacts": contacts, "q": words, "tab": "favourites" if favourites else "all"})


def _contact(asked: Asked) -> Shown:
    contact = asked.data.row("SELECT * FROM contacts WHERE _id = ?", asked.id)
    groups = asked.data.rows(
        "SELECT g.*, EXISTS (SELECT 1 FROM members m WHERE m.group_id = g._id AND m.contact_id = ?) AS member"
        " FROM groups g ORDER BY g._id",
        asked.id,
    )
    return Shown("contact.html", {"contact": contact, "groups": groups})


def _edit(asked: Asked) -> Shown:
    contact = asked.data.row("SELECT * FROM contacts WHERE _id = ?", asked.id)
    return Shown("edit.html", {"contact": contact or {"_id": 0, **dict.fromkeys(_FIELDS, "")}})


def _groups(asked: Asked) -> Shown:
    groups = asked.data.rows(
        "SELECT g.*, (SELECT count(*) FROM members m WHERE m.group_id = g._id) AS size FROM groups g ORDER BY g._id"
    )
    return Shown("groups.html", {"groups": groups})


def _group(asked: Asked) -> Shown:
    contacts = asked.data.rows(
        "SELECT c.*, EXISTS (SELECT 1 FROM members m WHERE m.group_id = ? AND m.contact_id = c._id) AS member"
        f" FROM contacts c {_ORDER}",
        asked.id,
    )
    group = asked.data.row("SELECT * FROM groups WHERE _id = ?", asked.id)
    return Shown("group.html", {"group": group, "contacts": contacts})


def _save(asked: Asked) -> Done:
    fields = {name: asked.field(name) for name in _FIELDS}
    if not fields["name"]:
        return Done(problem=asked.text("name_missing"))
    if fields["phone"] and not _PHONE.fullmatch(fields["phone"]):
        return Done(problem=asked.text("phone_wrong"))
    if fields["email"] and "@" not in fields["email"]:
        return Done(problem=asked.text("email_wrong"))
    keep(asked, "contacts", fields)
    return Done("back")


def _member(asked: Asked) -> Done:
    group, contact = asked.number("group"), asked.number("contact")
    if asked.data.row("SELECT 1 FROM members WHERE group_id = ? AND contact_id = ?", group, contact):
        asked.data.run("DELETE FROM members WHERE group_id = ? AND contact_id = ?", group, contact)
    else:
        asked.data.insert("members", {"group_id": group, "contact_id": contact})
    return Done()


CONTACTS = App(
    Package("org.pathproof.contacts", "builtin", {"en": "Contacts", "zh": "通讯录"}, colour="#2f6fde", icon="person"),
    tables=("contacts", "groups", "members"),
    screens={"": _list, "contact": _contact, "edit": _edit, "groups": _groups, "group": _group},
    acts={
        "block": flipping("contacts", "blocked"),
        "delete": removing("contacts"),
        "delete_group": removing("groups"),
        "favourite": flipping("contacts", "favourite"),
        "member": _member,
        "save": _save,
        "save_group": naming("groups", "name_missing", "group_taken"),
    },
)
