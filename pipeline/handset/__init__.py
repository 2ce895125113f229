"""The handset: an emulated phone, not Android, that speaks the device side of adb.

Its screen is real Chromium in phone metrics, its applications are mobile pages, and its command line answers in
Android's words as far as a driver needs them. It names itself for what it is wherever it is asked.
"""
