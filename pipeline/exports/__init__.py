"""Rows for trainers, in steps: what is held of a dataset, rows of a shape, preflight, a trainer's own keys, files."""
