"""The applications the phone ships with."""

from __future__ import annotations

from pipeline.handset.apps.app import App
from pipeline.handset.apps.notes import NOTES

APPS: tuple[App, ...] = (NOTES,)
"""By package name."""
