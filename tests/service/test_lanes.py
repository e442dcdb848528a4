"""Which worker may take which job, by its devices."""

from __future__ import annotations

import pytest

from bisect_tool.errors import SettingError
from bisect_tool.service.lanes import chosen_lanes, device_of, lane_of, lanes_with, own_lane
from bisect_tool.service.question import Asker, Purpose
from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import Queue
from bisect_tool.service.workers import Workers, WorkerState
from bisect_tool.spec.model import Spec
from bisect_tool.store.database import Database
from tests.rig.asked import another, pass_time

WITHOUT, H200, A100 = lanes_with(None), lanes_with("NVIDIA H200"), lanes_with("NVIDIA A100")


@pytest.mark.parametrize(
    ("device", "lane"), [("cpu", "cpu"), ("cuda", "cuda"), (["cuda", "cpu"], "any"), (["cpu", "cuda"], "cpu")]
)
def test_the_lane_of_a_spec(device: object, lane: str) -> None:
    assert lane_of(Spec.model_validate({"name": "a", "script": "a.py", "device": device})) == lane


def test_the_device_that_a_host_uses() -> None:
    assert H200 == ("cuda:NVIDIA H200", "cuda", "any", "cpu")
    assert [device_of(own_lane(lane, H200)) for lane in H200] == ["cuda", "cuda", "cuda", "cpu"]
    assert [device_of(own_lane(lane, WITHOUT)) for lane in WITHOUT] == ["cpu", "cpu"]


def test_lanes_are_chosen_from_those_that_are_here() -> None:
    hidden = {"CUDA_VISIBLE_DEVICES": ""}
    assert chosen_lanes(None, hidden) == ("cpu", "any")
    assert chosen_lanes("cpu", hidden) == ("cpu",)
    with pytest.raises(SettingError, match="no lane cuda"):
        chosen_lanes("cpu, cuda", hidden)


def ask(questions: Questions, device: object, number: int = 0) -> str:
    return questions.submit(another(number, device=device), Asker()).question.id


def test_a_gpu_is_asked_for_and_got(questions: Questions, queue: Queue) -> None:
    ask(questions, "cuda")
    assert queue.take("w", WITHOUT) is None
    assert queue.waiting()[0].why == "no worker for the lane cuda is there"
    assert queue.take("w", H200) is not None


def test_either_is_a_gpu_as_long_as_one_is_there(questions: Questions, queue: Queue, database: Database) -> None:
    ask(questions, ["cuda", "cpu"])
    workers = Workers(database, 1000)
    gpu = workers.sign_on(H200)
    assert queue.take("w", WITHOUT) is None
    workers.tell(gpu, WorkerState.DRAINING)
    assert queue.take("w", WITHOUT) is not None


def test_what_was_begun_goes_on_where_its_trials_count(questions: Questions, queue: Queue, database: Database) -> None:
    ask(questions, "cuda")
    Workers(database, 1000).sign_on(A100)
    taken = queue.take("w", A100)
    assert taken is not None
    queue.got_on(taken, own_lane(taken.job.lane, A100))
    queue.give_back(taken)
    assert queue.take("w", H200) is None
    pass_time(database, 1001)  # the other one is dead
    assert queue.take("w", H200) is not None


def test_a_job_may_be_given_to_one_kind_of_card(questions: Questions, queue: Queue) -> None:
    question = ask(questions, "cuda")
    taken = queue.take("w", H200)
    assert taken is not None
    queue.finish(taken, "r1", "exact")
    queue.add(question, Purpose.VERIFY, Asker(), lane="cuda:NVIDIA A100")
    assert queue.take("w", H200) is None
    assert queue.take("w", A100) is not None


def test_the_list_of_workers(database: Database) -> None:
    workers = Workers(database, 1000)
    first, second = workers.sign_on(H200), workers.sign_on(WITHOUT)
    workers.tell(second, WorkerState.BUSY, "q1")
    workers.tell(second, WorkerState.IDLE, done=1)
    workers.tell(first, WorkerState.GONE)
    seen = {one.id: one for one in workers.seen()}
    assert (seen[second].lanes, seen[second].state, seen[second].done) == (WITHOUT, WorkerState.IDLE, 1)
    assert (seen[first].is_alive, seen[second].is_alive) == (False, True)
    pass_time(database, 86_401)
    assert [one.id for one in workers.seen() if one.is_alive] == []
    third = workers.sign_on(WITHOUT)
    assert [one.id for one in workers.seen()] == [third]
