"""The types of puzzles, a module for each way of interaction."""
