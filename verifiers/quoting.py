"""Text from screens, pages and acting models, made safe to show to a judge: data that cannot pass for an instruction.

Every line is marked as quoted, control tokens are broken, characters that nobody sees are dropped, and what looks like
a verdict, claims that the task is done, or tells the judge what to say is named as a mere claim, in English and
Chinese. A mark says nothing of whether the claim is true; other wordings and other languages are only quoted.
"""

from __future__ import annotations

import re
import unicodedata

_MARK = "| "
_TOKENS = re.compile(
    r"<(?=[|/]|<?(?:think|system|assistant|user|human|action|tool_call|start_of_turn|end_of_turn|sys|s)\b)",
    re.IGNORECASE,
)

_FILLING = r"(?:\\[nrt]|[\s\\\"'“”‘’«»*_`~\[\](){}])*"
_BETWEEN = rf"{_FILLING}(?:[:=：|>→]|[-–—=]>|[–—]|\b(?:is|was|be)\b|为|為|是){_FILLING}"
_NAMES = (
    r"(?:status|state|verdict|grade|result|score|label|outcome|judge?ment|evaluation|rating|conclusion|decision|reward"
    r"|success(?:ful)?|passed|completed?|correct|判定|判断|判斷|裁决|裁決|评级|評級|评价|評價|结论|結論|结果|結果"
    r"|评分|評分|得分|状态|狀態|成功|完成)"
)
_VALUES = (
    r"(?:complete[d]?|partial(?:ly)?|infeasible|fail(?:ed|ure)?|success(?:ful)?|correct|explore|invalid|wrong|pass(?:ed)?"
    r"|met|unmet|done|true|yes|perfect|1(?:\.0+)?|100\s*%?|10\s*/\s*10)(?![\w.])"
    r"|(?:已|已经|已經|部分)?(?:成功|失败|失敗|正确|正確|错误|錯誤|完成|通过|通過|满足|滿足|达成|達成|合格|满分|滿分|不可行)"
)
_VERDICT = rf"{_NAMES}{_BETWEEN}(?:{_VALUES})"

_DOING = r"(?:(?:is|was|are|were|has|have|been|be|now|already|fully|successfully|correctly|completely|all|both)\W+)*"
_DONE = (
    rf"(?:tasks?|goal|objective|request|mission|trajectory|episode|everything|(?:keypoint|requirement|criteri|check)\w*)"
    rf"\W+{_DOING}(?:completed?|done|finished|accomplished|achieved|successful|a\s+success|fulfilled|satisfied|met"
    rf"|solved|passed|succeeded|infeasible|impossible)\b"
    r"|success(?:fully)?\s+(?:completed|completion|finished|accomplished)\b"
    r"|(?:completed?|finished|accomplished)\s+success(?:fully)?\b"
    r"|(?:任务|任務|目标|目標|要求|请求|請求|要点|要點|步骤|步驟|轨迹|軌跡)[^，。；！？,.;!?\n]{0,6}?"
    r"(?:完成|成功|达成|達成|实现|實現|通过|通過|满足|滿足|不可行)"
    r"|(?:成功|全部|圆满|圓滿|顺利|順利|正确|正確)地?(?:完成|达成|達成|通过|通過)"
)
_ORDER = (
    r"\b(?:grade|rate|mark|score|judge|label|evaluate|classify|treat|count|regard)\s+(?:\w+\s+){0,4}?(?:as\s+)?(?:an?\s+)?"
    r"(?:complete|partial|infeasible|success(?:ful)?|correct|passed|met)\b"
    r"|\b(?:answer|respond|reply|output|return|say)\W+(?:with\W+|only\W+)*(?:complete|infeasible|success|correct|passed)\b"
    r"|\b(?:ignore|disregard|forget)\s+(?:\w+\s+){0,3}?(?:instructions?|prompts?|rules?|above|keypoints?)\b"
    r"|\byou\s+are\s+(?:now\s+)?(?:an?|the)\s+(?:\w+\s+)?(?:judge|evaluator|grader|verifier|assistant)\b"
    r"|(?:判定?|评定?|評定?|视|視|标记|標記|认定|認定|算)(?:为|為|作)[^\n]{0,4}?(?:complete|success|成功|完成|通过|通過|正确|正確|满分|滿分)"
    r"|(?:输出|輸出|回答|回复|回覆|给出|給出)[^\n]{0,6}?(?:complete|success|成功|完成|通过|通過|正确|正確|满分|滿分)"
    r"|(?:忽略|无视|無視)[^\n]{0,8}?(?:指令|指示|说明|說明|规则|規則|提示|要点|要點)"
    r"|你(?:现在|現在)?是[^\n]{0,8}?(?:评判|評判|裁判|评委|評委|评估|評估|助手)"
)
_CLAIMS = re.compile(rf"{_VERDICT}|{_DONE}|{_ORDER}", re.IGNORECASE)
_CLAIM = "[claim] "


def quoted(text: str, most: int = 2000) -> str:
    """The text as marked lines, cut to `most` characters; an empty one is said to be empty."""
    kept = text if len(text) <= most else f"{text[:most]} [cut]"
    seen = "".join(sign for sign in kept if unicodedata.category(sign) != "Cf")
    safe = _with_claims(_TOKENS.sub("‹", seen))
    return "\n".join(f"{_MARK}{line}" for line in safe.splitlines()) or f"{_MARK}(empty)"


def _with_claims(text: str) -> str:
    """The text with every claim named as one, also where it is written in full-width or other forms of its letters."""
    parts, place = [], 0
    for found in _CLAIMS.finditer("".join(map(_plain, text))):
        parts += [text[place : found.start()], _CLAIM]
        place = found.start()
    return "".join([*parts, text[place:]])


def _plain(sign: str) -> str:
    """The character in its plain form, if that is one character, so that places stay the same."""
    plain = unicodedata.normalize("NFKC", sign)
    return plain if len(plain) == 1 else sign
