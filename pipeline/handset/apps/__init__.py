"""The applications the phone ships with."""

from __future__ import annotations

from pipeline.handset.apps.app import App
from pipeline.handset.apps.clock import CLOCK
from pipeline.handset.apps.contacts import CONTACTS
from pipeline.handset.apps.notes import NOTES
from pipeline.handset.apps.settings import SETTINGS
from pipeline.handset.apps.shop import SHOP

APPS: tuple[App, ...] = (CLOCK, CONTACTS, NOTES, SETTINGS, SHOP)
"""By package name."""
