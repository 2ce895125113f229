"""What each canonical action means and where it exists, in the languages of the prompts.

The order is the order in which prompts list actions. This module knows no grammar.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pipeline.words import Platform

LANGUAGES = ("en", "zh")

_WEB: tuple[Platform, ...] = ("web",)
_MOBILE: tuple[Platform, ...] = ("mobile",)
_DESKTOP: tuple[Platform, ...] = ("desktop",)
_POINTER: tuple[Platform, ...] = ("web", "desktop")
_ALL: tuple[Platform, ...] = ("web", "mobile", "desktop")


class Meaning(NamedTuple):
    """What an action does, in English and Chinese, and the platforms that have it."""

    en: str
    zh: str
    platforms: tuple[Platform, ...] = _ALL


MEANINGS: Mapping[str, Meaning] = {
    "Click": Meaning("click or tap the point once", "在该点单击或轻触"),
    "DoubleClick": Meaning("click or tap the point twice in quick succession", "在该点快速连点两次"),
    "TripleClick": Meaning("click the point three times in quick succession", "在该点快速连点三次", _DESKTOP),
    "MiddleClick": Meaning("click the point with the middle button", "在该点按鼠标中键", _DESKTOP),
    "RightClick": Meaning("click the point with the secondary button", "在该点按鼠标右键", _POINTER),
    "LongPress": Meaning("press the point, hold, release", "在该点按住片刻后松开"),
    "Hover": Meaning("rest the pointer on the point without pressing", "把指针停在该点，不按下", _POINTER),
    "Drag": Meaning("press at the start, move to the end, release", "在起点按住，移到终点后松开"),
    "Swipe": Meaning("fling the content from the start to the end", "从起点滑动到终点"),
    "Scroll": Meaning("scroll towards what lies in this direction", "朝该方向滚动，显示那一侧的内容"),
    "Type": Meaning("enter the text where the focus is", "在当前焦点处输入文字"),
    "Hotkey": Meaning("press up to three keys together", "同时按下最多三个键", _POINTER),
    "KeyDown": Meaning("press up to three keys and keep them down", "按下最多三个键并保持按住", _DESKTOP),
    "KeyUp": Meaning("let go of keys that are kept down", "松开按住的键", _DESKTOP),
    "SelectOption": Meaning(
        "choose the option with this position, counted from 0, in the drop-down clicked last",
        "在刚点开的原生下拉框中选择第几项，从 0 数起",
        _WEB,
    ),
    "Launch": Meaning("go to this address", "打开该网址", _WEB),
    "LaunchApp": Meaning("open the application of this name", "打开该名称的应用", ("mobile", "desktop")),
    "GetUrl": Meaning("ask for the current address", "询问当前网址", _WEB),
    "GetScreenshot": Meaning("take a fresh picture of the screen", "重新截取屏幕", _MOBILE),
    "TakeNote": Meaning("keep a text for later turns", "记下一段文字，供以后使用"),
    "AcceptDialog": Meaning(
        "accept the next dialog of this page, which is dismissed otherwise",
        "确认本页的下一个对话框，否则它会被取消",
        _WEB,
    ),
    "PressBack": Meaning("go back to the previous page or screen", "返回上一页或上一屏", ("web", "mobile")),
    "PressHome": Meaning("go to the home screen", "回到主屏幕", _MOBILE),
    "PressEnter": Meaning("press the Enter key", "按回车键"),
    "PressRecent": Meaning("show the recent applications", "打开最近使用的应用", _MOBILE),
    "Wait": Meaning("do nothing for a moment", "稍等片刻"),
    "Answer": Meaning("give the answer to the question and end", "给出问题的答案并结束"),
    "CallUser": Meaning("hand over to the user and end", "交给用户处理并结束"),
    "Finished": Meaning("declare the task done and end", "宣布任务完成并结束"),
}
REFUSAL = Meaning("say that the task cannot be done, and end", "说明任务无法完成并结束")


def meaning_of(action: str, language: str, *, refusal: bool = False) -> str:
    """What the action of this name does, in the language."""
    meaning = REFUSAL if refusal else MEANINGS[action]
    return meaning.zh if language == "zh" else meaning.en


def meaning_of_wheel(negative: str, positive: str, language: str) -> str:
    """What a wheel does whose amount is negative, or positive, in the language."""
    if language == "zh":
        ways = {"up": "上", "down": "下", "left": "左", "right": "右"}
        return f"负数向{ways[negative]}滚动，正数向{ways[positive]}滚动"
    return f"scroll {negative}, or {positive} with a positive amount"
