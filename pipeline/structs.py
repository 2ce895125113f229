"""The small structs that rows are made of: values without an identity of their own, nested in columns.

Boxes and pixels are in pixels of the stored picture. This module knows nothing of the rows that hold them.
"""

from __future__ import annotations

from pydantic import ConfigDict, Field

from pipeline.actions import Model, Pixel
from pipeline.words import Boundary


class Param(Model):
    """A named value."""

    name: str
    value: str


class Fault(Model):
    """What broke, by the boundary it crossed; never a grade."""

    boundary: Boundary
    code: str
    message: str


class Usage(Model):
    """What model calls consumed; zero where no model was asked."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    images: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            images=self.images + other.images,
            cost_usd=self.cost_usd + other.cost_usd,
        )


class EnvironmentInfo(Model):
    """Which environment an attempt ran in."""

    driver: str
    provider: str
    device: str
    build: str


class Box(Model):
    """A rectangle in pixels of the stored picture; right and bottom are exclusive. May lie outside the picture."""

    left: int
    top: int
    right: int
    bottom: int

    def contains(self, pixel: Pixel) -> bool:
        """Whether the pixel lies inside."""
        return self.left <= pixel.x < self.right and self.top <= pixel.y < self.bottom

    def within(self, width: int, height: int) -> bool:
        """Whether any part shows in a picture of this size."""
        return self.left < width and self.top < height and self.right > 0 and self.bottom > 0

    @property
    def centre(self) -> Pixel:
        """The middle pixel."""
        return Pixel(x=(self.left + self.right) // 2, y=(self.top + self.bottom) // 2)


class Node(Model):
    """One element of a UI tree, in reading order."""

    role: str
    name: str
    value: str = ""
    box: Box | None = None
    states: list[str] = Field(default_factory=list)


class TargetUnderPoint(Model):
    """What lies under the action's point, read before acting; `covered_by` names an element on top of it."""

    role: str
    name: str
    box: Box | None = None
    covered_by: str | None = None
    states: list[str] = Field(default_factory=list)


class LeadingTarget(TargetUnderPoint):
    """One that leads somewhere by its page's own word, as links and buttons of forms do; rows keep the target alone.

    `leads_to` is the method and the address, such as `POST http://host/items/3/delete`.
    """

    leads_to: str


class GateDecision(Model):
    """What the gate said before execution."""

    decision: str
    consequence: str
    reason: str
    profile: str


class Image(Model):
    """A picture as Hugging Face `Image` stores it."""

    bytes: bytes
    path: str | None = None


class Sensitive(Model):
    """A region that shows a secret or personal data; its column is called `class`, a word that Python keeps."""

    model_config = ConfigDict(validate_by_name=True)

    class_: str = Field(validation_alias="class", serialization_alias="class")
    box: Box | None = None


class Calibration(Model):
    """Measured error rates that stand behind a verdict."""

    calibration_id: str
    fpr: float
    fnr: float
    n: int
