"""Tests, one module per module of the project; records.py builds small records by hand."""
