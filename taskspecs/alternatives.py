"""Regular expressions of many alternatives that are tried only where one of them can begin.

Knows nothing of what the alternatives say.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable


def by_first_sign(patterns: Iterable[str]) -> str:
    """One group for patterns that each begin with a sign that stands for itself, escaped or not; finds what they find.

    Those with one first sign are together, in their order: at any place in a text only these can match, so that the
    one that counts is the one that would count in a plain list.
    """
    rests: defaultdict[str, list[str]] = defaultdict(list)
    for pattern in patterns:
        length = 2 if pattern.startswith("\\") else 1
        rests[pattern[:length].lower()].append(pattern[length:])
    begins = "".join(re.escape(sign[-1]) for sign in rests)
    groups = (f"{sign}(?:{'|'.join(rest)})" for sign, rest in rests.items())
    return f"(?=[{begins}])(?:{'|'.join(groups)})"
