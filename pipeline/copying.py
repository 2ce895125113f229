"""Makes written parts a dataset that is a copy of another one, in one step.

Until its last object is there the copy has no manifest and is no dataset; from then on it is whole. What is copied, and
what is changed on the way, is for others to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline import manifest
from pipeline.closing import Content, hash_of
from pipeline.file_names import EPOCHS, MANIFEST, RUN_FILE, VIEWS_FILE, ObjectName, claim_path
from pipeline.manifest import Epoch, Line, PartRef, RunFile, Seal
from pipeline.query import views_sql
from pipeline.records import now
from pipeline.storage import Storage, disk_errors

EPOCH = 1
"""A new place has had no driver before."""

_OBJECT = ObjectName(EPOCH, 1)


def publish_copy(target: Storage, original: RunFile, config: Mapping[str, Any], lines: Sequence[Line]) -> None:
    """List all of a copy at once; it says of itself that it is one, and of the run what the original said."""
    claim = Epoch(epoch=EPOCH, claimed_at=now(), sealed=[], closes=True).model_dump_json().encode()
    listing = manifest.encoded(_OBJECT, lines, hash_of(claim))
    views = views_sql({target.url(line.path): line for line in lines if isinstance(line, PartRef)}).encode()
    ended = {"config": dict(config), "epoch": EPOCH, "copied_at": now(), "views_sha256": hash_of(views)}
    sealed = Seal(epoch=EPOCH, last=1, objects=[Content(lines=len(lines), sha256=hash_of(listing))])
    run = original.model_copy(update={**ended, "sealed": sealed})
    with disk_errors(f"publishing {target.address}"):
        target.prepare([EPOCHS])
        target.create(claim_path(EPOCH), claim)
        target.create(VIEWS_FILE, views)
        # The seal is there before what it seals, so that a folder without its listing is never taken for an empty one.
        target.create(RUN_FILE, manifest.pretty(run))
        target.prepare([MANIFEST])
        target.create(_OBJECT.path, listing)
