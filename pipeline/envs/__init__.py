"""Environments: what policies act on."""
