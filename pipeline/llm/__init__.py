"""One call of a model behind an OpenAI-compatible address: text and pictures in; text, reasoning and usage out.

`Client.ask` makes the call; a `Limiter` shared by all workers of an endpoint caps and pauses it; every call becomes a
row. Nothing here knows what is asked for: policies and judges write prompts, dialects read replies.
"""

from pipeline.llm.cache import ReplyCache
from pipeline.llm.client import Client
from pipeline.llm.endpoint import Abilities, Endpoint
from pipeline.llm.limiter import Limiter, LocalLimiter, Spent
from pipeline.llm.probe import demand, probe
from pipeline.llm.prompt import Message, Picture, PictureEncoder, Prompt, picture_of
from pipeline.llm.reply import Outcome, Reply
from pipeline.llm.structured import Unreadable, read_structured

__all__ = [
    "Abilities",
    "Client",
    "Endpoint",
    "Limiter",
    "LocalLimiter",
    "Message",
    "Outcome",
    "Picture",
    "PictureEncoder",
    "Prompt",
    "Reply",
    "ReplyCache",
    "Spent",
    "Unreadable",
    "demand",
    "picture_of",
    "probe",
    "read_structured",
]
