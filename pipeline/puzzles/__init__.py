"""Interaction puzzles that are drawn, proved to have one answer, shown, and judged by their own page."""
