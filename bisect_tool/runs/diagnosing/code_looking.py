"""The graphs and the code that the compiler makes on both builds: logged by one more trial of each, and compared."""

from __future__ import annotations

from bisect_tool.reports.diagnosis import CodePart
from bisect_tool.runs.diagnosing.bench import Variation
from bisect_tool.runs.diagnosing.code_text import compare, stages_in
from bisect_tool.runs.diagnosing.evidence import LOGS
from bisect_tool.runs.diagnosing.ladder import Shown
from bisect_tool.runs.diagnosing.scene import Scene


def look_at_code(scene: Scene) -> CodePart:
    """How the code of the two builds differs; or why that cannot be said."""
    change = scene.change
    logs = [_logged(scene, number) for number in (change.without, change.with_)]
    if reasons := [reason for _, reason in logs if reason]:
        return CodePart(sentence=f"not compared: {reasons[0]}")
    labels = (scene.label(change.without), scene.label(change.with_))
    found = compare(stages_in(logs[0][0]), stages_in(logs[1][0]), labels)
    scene.evidence.keep_diff(found.diff)
    return CodePart(stage=found.first, sentence=found.sentence, diff=found.diff)


def _logged(scene: Scene, number: int) -> tuple[str, str]:
    """What the compiler logged on a build, or the reason why that is no use."""
    label = scene.label(number)
    path = scene.evidence.code_log(label)
    variation = Variation(
        name="logging the code",
        variables={"TORCH_LOGS": LOGS},
        places={"TORCH_LOGS_OUT": str(path)},
        written=(path.parent,),
        is_kept=path.is_file,
        # torch appends: what a trial that was killed has left is no part of this one.
        clear=lambda: path.unlink(missing_ok=True),
    )
    shown, detail = scene.shown(scene.try_one(number, variation))
    if (shown is Shown.WANTED) != (number == scene.change.with_):
        return "", f"with its log switched on {label} shows {shown.value}{f' ({detail})' if detail else ''}"
    return scene.evidence.code_of(label), ""
