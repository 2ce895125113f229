from pipeline.actions import Click, Point
from pipeline.protocols import Gate, Observation
from pipeline.safety import PermissiveGate
from tests.webworld import task_at


def test_the_permissive_gate_allows_and_says_under_which_profile() -> None:
    gate: Gate = PermissiveGate("sandbox")
    seen = Observation(frame=None, tree=None, location="", title="", seconds=0)
    decision = gate.decide(task_at(), seen, Click(point=Point(x=1, y=1)), None)
    assert (decision.decision, decision.consequence, decision.profile) == ("allow", "unclassified", "sandbox")
    assert decision.reason
