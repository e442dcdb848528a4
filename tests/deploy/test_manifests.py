from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.errors import Answered, BisectError
from tests.deploy.schemas import DEPLOY, documents, faults, pods

KUBERNETES = ("1.33", "1.37")  # the first in which all that is used is stable, and the newest whose schemas are here
FILES = sorted([*DEPLOY.glob("kubernetes/*.yaml"), *DEPLOY.glob("ray/*.yaml")])
JOB = DEPLOY / "kubernetes" / "batch.yaml"
RAYJOB = DEPLOY / "ray" / "rayjob.yaml"

# Statuses that another attempt may change: faults of the machine, the network or the store, and the end of a pod.
WORTH_ANOTHER = {14, 20, 21, 23, 24, 26, 28, 29, 31, 130}


EVERY = [pytest.param(document, id=f"{path.name}-{document['kind']}") for path in FILES for document in documents(path)]


@pytest.mark.parametrize("kubernetes", KUBERNETES)
@pytest.mark.parametrize("document", EVERY)
def test_a_manifest_fits_the_schema(document: dict[str, Any], kubernetes: str) -> None:
    assert faults(document, kubernetes) == []


def broken(path: Path, *keys: str | int, **changes: Any) -> dict[str, Any]:
    """The first document of a file, changed at a place."""
    document = copy.deepcopy(documents(path)[0])
    place: Any = document
    for key in keys:
        place = place[key]
    place.update(changes)
    return document


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(broken(JOB, "spec", completionmode="Indexed"), id="a word written in another way"),
        pytest.param(broken(JOB, "spec", completions="eight"), id="a number as a word"),
        pytest.param(broken(JOB, "spec", "template", "spec", "containers", 0, args="batch"), id="a text for a list"),
        pytest.param(broken(RAYJOB, "spec", entryPoint="bisect"), id="an unknown key of a RayJob"),
        pytest.param(
            broken(RAYJOB, "spec", "rayClusterSpec", "workerGroupSpecs", 0, replicas="4"), id="a word of a worker"
        ),
        pytest.param(
            broken(RAYJOB, "spec", "rayClusterSpec", "headGroupSpec", "template", "spec", "containers", 0, Image="x"),
            id="an unknown key of a pod inside a RayJob",
        ),
    ],
)
def test_the_schema_finds_a_mistake(document: dict[str, Any]) -> None:
    assert faults(document, "1.33")


def statuses() -> set[int]:
    """Every exit status that bisect has, and 1 and 2, which commands and click give."""

    def below(kind: type[BisectError]) -> Iterator[type[BisectError]]:
        yield kind
        for one in kind.__subclasses__():
            yield from below(one)

    return {1, 2, *map(int, Answered), *(kind.status for kind in below(BisectError))} - {0}


def test_every_status_is_either_final_or_worth_another_attempt() -> None:
    """A new status in `errors.py` has to be sorted into one of the two: here, in the job and in the Slurm script."""
    (rule,) = [rule for rule in documents(JOB)[0]["spec"]["podFailurePolicy"]["rules"] if rule["action"] == "FailIndex"]
    values = rule["onExitCodes"]["values"]
    assert values == sorted(set(values))  # the server refuses others
    assert statuses() - WORTH_ANOTHER <= set(values)
    assert not WORTH_ANOTHER & set(values)


def test_slurm_tries_the_same_ones_again() -> None:
    script = (DEPLOY / "slurm" / "bisect-batch.sbatch").read_text()
    found = re.search(r"^([\d |]+)\)$", script, re.MULTILINE)
    assert found is not None
    assert {int(word) for word in found[1].split(" | ")} == WORTH_ANOTHER | {137}


def test_a_preempted_pod_counts_for_nothing() -> None:
    first = documents(JOB)[0]["spec"]["podFailurePolicy"]["rules"][0]
    assert first == {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


def test_there_are_as_many_pods_as_shards() -> None:
    spec = documents(JOB)[0]["spec"]
    args = spec["template"]["spec"]["containers"][0]["args"]
    assert args[args.index("--shard") + 1] == f"$(JOB_COMPLETION_INDEX)/{spec['completions']}"
    assert args[args.index("--out") + 1] == "/results/shard-$(JOB_COMPLETION_INDEX)"


@pytest.mark.parametrize("document", EVERY)
def test_no_pod_runs_as_root_or_can_become_it(document: dict[str, Any]) -> None:
    for _, template in pods(document):
        pod = template["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("document", EVERY)
def test_every_mount_has_a_volume_and_every_volume_a_mount(document: dict[str, Any]) -> None:
    for _, template in pods(document):
        pod = template["spec"]
        named = {one["name"] for one in pod["volumes"]}
        named |= {one["metadata"]["name"] for one in document["spec"].get("volumeClaimTemplates", [])}
        assert {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]} == named


def test_driver_and_workers_have_one_image_whose_ray_is_that_of_the_lock() -> None:
    cluster = documents(RAYJOB)[0]["spec"]["rayClusterSpec"]
    lock = (DEPLOY / "image" / "ray.lock").read_text()
    assert f"\nray=={cluster['rayVersion']} " in lock
    templates = [cluster["headGroupSpec"]["template"], *(group["template"] for group in cluster["workerGroupSpecs"])]
    assert {one["spec"]["containers"][0]["image"] for one in templates} == {"bisect-ray:latest"}


def test_no_manifest_holds_a_password() -> None:
    for path in FILES:
        assert "postgresql://" not in path.read_text()
        assert not [document for document in documents(path) if document["kind"] == "Secret"]
