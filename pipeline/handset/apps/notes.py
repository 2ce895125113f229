"""Notes: texts and checklists in folders, with a bin.

A locked note must not be captured: its screen is a secure window.
"""

from __future__ import annotations

from pipeline.handset.apps.acts import flipping, naming, removing
from pipeline.handset.apps.app import App, Asked, Done, Shown
from pipeline.handset.packages import Package

_COLOURS = ("none", "yellow", "green", "blue", "pink")
_ORDERS = {"newest": "updated DESC, _id DESC", "title": "title COLLATE NOCASE, _id"}


def _list(asked: Asked) -> Shown:
    folder, words = asked.number("folder"), asked.field("q")
    order = asked.field("sort") if asked.field("sort") in _ORDERS else "newest"
    query = (
        "SELECT n.*, (SELECT count(*) FROM items i WHERE i.note_id = n._id) AS item_count,"
        " (SELECT count(*) FROM items i WHERE i.note_id = n._id AND i.done = 1) AS done_count"
        " FROM notes n WHERE deleted = 0 AND (? = 0 OR folder_id = ?)"
        " AND (title LIKE '%' || ? || '%' OR (locked = 0 AND body LIKE '%' || ? || '%')"
        " OR EXISTS (SELECT 1 FROM items i WHERE i.note_id = n._id AND i.text LIKE '%' || ? || '%'))"
        f" ORDER BY pinned DESC, {_ORDERS[order]}"
    )
    notes = asked.data.rows(query, folder, folder, words, words, words)
    return Shown("list.html", {"notes": notes, "folders": _folders(asked), "folder": folder, "q": words, "sort": order})


def _note(asked: Asked) -> Shown:
    note = asked.data.row("SELECT * FROM notes WHERE _id = ?", asked.id) or {
        "_id": 0,
        "title": "",
        "body": "",
        "kind": "checklist" if asked.field("kind") == "checklist" else "text",
        "folder_id": asked.number("folder", 1) or 1,
        "pinned": 0,
        "locked": 0,
        "colour": "none",
        "deleted": 0,
    }
    items = asked.data.rows("SELECT * FROM items WHERE note_id = ? ORDER BY position, _id", asked.id)
    values = {"note": note, "items": items, "folders": _folders(asked), "colours": _COLOURS}
    return Shown("note.html", values, secure=bool(note["locked"]))


def _folder_list(asked: Asked) -> Shown:
    return Shown("folders.html", {"folders": _folders(asked)})


def _bin(asked: Asked) -> Shown:
    return Shown("bin.html", {"notes": asked.data.rows("SELECT * FROM notes WHERE deleted = 1 ORDER BY _id DESC")})


def _save(asked: Asked) -> Done:
    title, body = asked.field("title"), asked.given.get("body", "").replace("\r\n", "\n")
    if not title and not body.strip():
        return Done(problem=asked.text("note_empty"))
    if asked.id:
        asked.data.update("notes", asked.id, title=title, body=body, updated=asked.clock.text)
        return Done("back")
    kind = "checklist" if asked.field("kind") == "checklist" else "text"
    number = asked.data.insert(
        "notes",
        {
            "title": title,
            "body": body,
            "kind": kind,
            "folder_id": asked.number("folder_id", 1),
            "created": asked.clock.text,
            "updated": asked.clock.text,
        },
    )
    return Done("go", f"note?id={number}") if kind == "checklist" else Done("back")


def _colour(asked: Asked) -> Done:
    if asked.field("colour") in _COLOURS:
        asked.data.update("notes", asked.id, colour=asked.field("colour"))
    return Done()


def _move(asked: Asked) -> Done:
    asked.data.update("notes", asked.id, folder_id=asked.number("folder_id", 1))
    return Done()


def _copy(asked: Asked) -> Done:
    note = asked.data.row("SELECT * FROM notes WHERE _id = ?", asked.id)
    if note is None:
        return Done("back")
    copied = {name: value for name, value in note.items() if name not in ("_id", "pinned")}
    title = asked.text("copy_of", title=note["title"])
    number = asked.data.insert("notes", {**copied, "title": title, "updated": asked.clock.text})
    for item in asked.data.rows("SELECT text, done, position FROM items WHERE note_id = ?", asked.id):
        asked.data.insert("items", {**item, "note_id": number})
    return Done("back")


def _delete(asked: Asked) -> Done:
    asked.data.update("notes", asked.id, deleted=1, pinned=0)
    return Done("stay" if asked.field("listed") else "back")


def _restore(asked: Asked) -> Done:
    asked.data.update("notes", asked.id, deleted=0)
    return Done()


def _destroy(asked: Asked) -> Done:
    asked.data.run("DELETE FROM notes WHERE _id = ? AND deleted = 1", asked.id)
    return Done()


def _empty(asked: Asked) -> Done:
    asked.data.run("DELETE FROM notes WHERE deleted = 1")
    return Done()


def _add_item(asked: Asked) -> Done:
    text = asked.field("text")
    if not text:
        return Done(problem=asked.text("item_empty"))
    last = asked.data.row("SELECT coalesce(max(position), 0) AS last FROM items WHERE note_id = ?", asked.id)
    assert last is not None
    asked.data.insert("items", {"note_id": asked.id, "text": text, "position": last["last"] + 1})
    asked.data.update("notes", asked.id, updated=asked.clock.text)
    return Done()


def _clear_done(asked: Asked) -> Done:
    asked.data.run("DELETE FROM items WHERE note_id = ? AND done = 1", asked.id)
    return Done()


def _delete_folder(asked: Asked) -> Done:
    # The first folder is where notes go whose folder is gone.
    if asked.id > 1:
        asked.data.run("UPDATE notes SET folder_id = 1 WHERE folder_id = ?", asked.id)
        asked.data.delete("folders", asked.id)
    return Done()


def _folders(asked: Asked) -> list[dict[str, object]]:
    return asked.data.rows(
        "SELECT f.*, (SELECT count(*) FROM notes n WHERE n.folder_id = f._id AND n.deleted = 0) AS note_count"
        " FROM folders f ORDER BY f._id"
    )


NOTES = App(
    Package("org.pathproof.notes", "builtin", {"en": "Notes", "zh": "便签"}, colour="#f2a600", icon="note"),
    tables=("notes", "items", "folders"),
    screens={"": _list, "note": _note, "folders": _folder_list, "bin": _bin},
    acts={
        "add_item": _add_item,
        "clear_done": _clear_done,
        "colour": _colour,
        "copy": _copy,
        "delete": _delete,
        "delete_folder": _delete_folder,
        "destroy": _destroy,
        "drop_item": removing("items", "stay", "item"),
        "empty": _empty,
        "lock": flipping("notes", "locked"),
        "move": _move,
        "pin": flipping("notes", "pinned"),
        "restore": _restore,
        "save": _save,
        "save_folder": naming("folders", "folder_empty", "folder_taken"),
        "tick": flipping("items", "done", "item"),
    },
)
