"""Task sets as data, each task bound to an executable contract."""
