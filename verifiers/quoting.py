"""Text from screens, pages and acting models, made safe to show to a judge: data that cannot pass for an instruction.

Every line is marked as quoted, control tokens are broken, and what looks like a verdict is named as a mere claim.
"""

from __future__ import annotations

import re

_MARK = "| "
_TOKENS = re.compile(r"<(?=[|/]|(?:think|system|assistant|user|action|tool_call)\b)", re.IGNORECASE)
_GRADES = r"(?:complete|partial|infeasible|fail(?:ed|ure)?|success(?:ful)?|correct|explore|invalid|wrong|pass(?:ed)?)"
_SUBJECTS = r"(?:status|verdict|grade|result|score|label|判定|评级|结论|结果|评分)"
_SAID = r"[\"'”]?\s*(?:[:=：]|is\b|为|是)\s*[\"'“]?"
_VERDICTS = re.compile(rf"{_SUBJECTS}{_SAID}(?:{_GRADES}\b|成功|失败|正确|错误|完成)", re.IGNORECASE)
_CLAIM = "[claim] "


def quoted(text: str, most: int = 2000) -> str:
    """The text as marked lines, cut to `most` characters; an empty one is said to be empty."""
    kept = text if len(text) <= most else f"{text[:most]} [cut]"
    safe = _VERDICTS.sub(lambda found: f"{_CLAIM}{found.group(0)}", _TOKENS.sub("‹", kept))
    return "\n".join(f"{_MARK}{line}" for line in safe.splitlines()) or f"{_MARK}(empty)"
