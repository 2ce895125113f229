"""What a policy without a model says it thinks: one short sentence with the action, its target and the reason.

Judges compare the sentence with the action, so the target is named as the tree names it. English and Chinese.
"""

from __future__ import annotations

from typing import NamedTuple

from pipeline.actions import (
    Action,
    Answer,
    CallUser,
    Finished,
    Hotkey,
    Launch,
    PressBack,
    Scroll,
    Swipe,
    TakeNote,
    Type,
    Wait,
)
from pipeline.policies.paging import direction_of

_VERBS = {
    "AcceptDialog": ("Accept the next dialog", "接受下一个对话框"),
    "Click": ("Click", "点击"),
    "DoubleClick": ("Double-click", "双击"),
    "GetScreenshot": ("Take a fresh look", "重新截屏"),
    "GetUrl": ("Ask for the address", "查看当前网址"),
    "Hover": ("Hover over", "悬停在"),
    "KeyDown": ("Hold down", "按住"),
    "KeyUp": ("Let go of", "松开"),
    "LaunchApp": ("Open the app", "打开应用"),
    "LongPress": ("Press and hold", "长按"),
    "MiddleClick": ("Middle-click", "中键点击"),
    "PressEnter": ("Press Enter", "按回车键"),
    "PressHome": ("Go to the home screen", "回到主屏幕"),
    "PressRecent": ("Show recent apps", "查看最近应用"),
    "RightClick": ("Right-click", "右键点击"),
    "SelectOption": ("Choose", "选择"),
    "TripleClick": ("Triple-click", "三击"),
}
_ROLES = {
    "button": "按钮",
    "checkbox": "复选框",
    "combobox": "下拉框",
    "heading": "标题",
    "link": "链接",
    "listbox": "列表框",
    "menuitem": "菜单项",
    "option": "选项",
    "radio": "单选框",
    "searchbox": "搜索框",
    "tab": "标签页",
    "textbox": "输入框",
}
_DIRECTIONS = {"down": "下", "left": "左", "right": "右", "up": "上", "": ""}


class Aim(NamedTuple):
    """What an action is directed at, as the tree names it."""

    role: str
    name: str


def is_chinese(language: str) -> bool:
    """Whether texts are to be Chinese; English otherwise."""
    return language.startswith("zh")


def thought(language: str, action: Action, aim: Aim | None = None, purpose: str = "") -> str:
    """One sentence: what, where, and what for."""
    chinese = is_chinese(language)
    if isinstance(action, Answer | CallUser | Finished | PressBack | Wait):
        return _complete(action)[1 if chinese else 0]
    if chinese:
        where = _ROLES.get(aim.role, aim.role) + (f"“{aim.name}”" if aim.name else "") if aim else ""
        return f"{_chinese(action, where)}，以便{purpose or '完成任务'}。"
    where = f" the {aim.role}" + (f' "{aim.name}"' if aim.name else "") if aim else ""
    return f"{_english(action, where)} to {purpose or 'carry on with the task'}."


def _complete(action: Answer | CallUser | Finished | PressBack | Wait) -> tuple[str, str]:
    """Actions that give their reason themselves, in English and Chinese."""
    match action:
        case Wait():
            return "Wait for the screen to show more.", "等待页面显示更多内容。"
        case PressBack():
            return "Go back, since this is not the right page.", "这不是要找的页面，返回上一页。"
        case CallUser(content=content):
            return f"Ask the user: {content}.", f"请用户处理：{content}。"
        case _ if action.content.startswith("infeasible:"):
            reason = action.content.removeprefix("infeasible:").strip()
            return f"Finish, since the task cannot be done: {reason}.", f"任务无法完成，结束：{reason}。"
        case _ if action.content:
            return f'Finish with the answer "{action.content}".', f"任务完成，回答“{action.content}”。"
        case _:
            return "Finish, since everything asked is done.", "要求的都已完成，结束任务。"


def _english(action: Action, where: str) -> str:
    match action:
        case Type():
            return f'Type "{action.content}"' + (f" into{where}" if where else "")
        case Scroll() | Swipe():
            return f"Scroll {direction_of(action)}" + (f" towards{where}" if where else "")
        case Hotkey():
            return f"Press {'+'.join(action.keys)}" + (f" in{where}" if where else "")
        case Launch():
            return f"Open {action.url}"
        case TakeNote():
            return f'Note "{action.content}"'
        case _:
            return f"{_verb(action, 0)}{where}"


def _chinese(action: Action, where: str) -> str:
    match action:
        case Type():
            return (f"在{where}中" if where else "") + f"输入“{action.content}”"
        case Scroll() | Swipe():
            return f"向{_DIRECTIONS[direction_of(action) or '']}滚动" + (f"到{where}" if where else "")
        case Hotkey():
            return (f"在{where}中" if where else "") + f"按下{'+'.join(action.keys)}"
        case Launch():
            return f"打开{action.url}"
        case TakeNote():
            return f"记下“{action.content}”"
        case _:
            return f"{_verb(action, 1)}{where}"


def _verb(action: Action, column: int) -> str:
    return _VERBS.get(action.type, (action.type, action.type))[column]
