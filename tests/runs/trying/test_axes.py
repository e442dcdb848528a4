from __future__ import annotations

from bisect_tool.runs.trying.axes import Effect, Situation, cannot, changes_for, effect_of
from bisect_tool.runs.trying.mentions import Mentions
from bisect_tool.search.configurations import Change


def order(situation: Situation) -> list[str]:
    return [change.name for change in sorted(changes_for(situation), key=lambda one: -one.chance)]


def test_what_the_report_speaks_of_comes_first() -> None:
    said = Mentions((("TORCHINDUCTOR_FREEZING", "1"),), (), frozenset({("dtype", "float64")}))
    names = order(Situation(has_torch=True, runs_python=True, mentions=said))
    assert names[:2] == ["env TORCHINDUCTOR_FREEZING=1", "dtype float64"]
    assert {"dynamic yes", "caches warm", "threads 1", "repeats 4", "cpu default"} < set(names)


def test_what_cannot_be_changed_is_said() -> None:
    assert order(Situation(has_torch=False, runs_python=True)) == ["repeats 4"]
    command = Situation(has_torch=True, runs_python=False, device="cuda", devices=("cpu",), builds={"2.12.1": 5.0})
    assert set(order(command)) == {"repeats 4", "device cpu", "build 2.12.1", "caches off", "threads 1"}
    assert cannot(command) == (
        "dtype, dynamic shapes and warm caches: the repro is a command that does not begin with `python`",
    )


def test_a_variable_that_is_set_already_is_no_change() -> None:
    said = Mentions((("A_B", "1"),))
    assert "env A_B=1" not in order(Situation(has_torch=False, runs_python=True, mentions=said, variables={"A_B": "1"}))


def test_the_effects_of_several_changes_add_up() -> None:
    together = (Change("env", "'A_B=1 2' C_D=3", 0.1),)
    assert effect_of(together).variables == {"A_B": "1 2", "C_D": "3"}
    both = (Change("dtype", "float64", 0.1), Change("caches", "warm", 0.1))
    assert effect_of(both) == Effect(runner=("--dtype", "float64", "--warm"))
    env = effect_of((Change("env", "X_Y=a=b", 0.1), Change("caches", "off", 0.1)))
    assert env.variables["X_Y"] == "a=b"
    assert env.variables["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] == "1"
    assert effect_of((Change("repeats", "4", 0.1),)) == Effect(is_repeated=True)
