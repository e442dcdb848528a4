"""Questions over HTTP: handed in once, listed, cancelled, tried again."""

from __future__ import annotations

import base64
import io
import json
import zipfile

from fastapi.testclient import TestClient

from bisect_tool.service.services import Services
from tests.reports import samples
from tests.rig.answered import answered
from tests.rig.asked import another, submission

QUESTIONS = "/api/v1/questions"


def handed_in(number: int = 0) -> dict[str, object]:
    asked = another(number)
    files = [{"path": path, "base64": base64.b64encode(content).decode()} for path, content in asked.files]
    return {"spec": asked.spec, "files": files}


def test_the_same_content_is_asked_once(client: TestClient) -> None:
    first = client.post(QUESTIONS, json=handed_in())
    again = client.post(QUESTIONS, json=handed_in())
    assert (first.status_code, first.json()["is_new"]) == (201, True)
    assert (again.status_code, again.json()["is_new"]) == (200, False)
    question = first.json()["question"]
    assert again.json()["question"]["id"] == question["id"]
    assert first.headers["location"] == f"{QUESTIONS}/{question['id']}"
    assert question["address"] == f"http://127.0.0.1:8765/q/{question['id']}"
    assert first.json()["job"]["state"] == "waiting"


def test_what_was_answered_is_given(client: TestClient, services: Services) -> None:
    question = answered(services, another(0), samples.exact())
    told = client.post(QUESTIONS, json=handed_in()).json()
    assert (told["is_new"], told["job"], told["question"]["state"]) == (False, None, "answered")
    whole = client.get(f"{QUESTIONS}/{question}").json()
    assert whole["summary"] == list(samples.exact().summary)
    assert whole["files"] == ["repro.py"]
    assert [job["state"] for job in whole["jobs"]] == ["done"]


def test_a_form_with_files(client: TestClient, services: Services) -> None:
    asked = submission("toy-spec", ("data/a.json", b"{}"), files=["data/a.json"])
    files = [("files", (path, content)) for path, content in asked.files]
    told = client.post(QUESTIONS, data={"spec": asked.spec, "source": "a form"}, files=files)
    assert told.status_code == 201
    assert services.questions.files(told.json()["question"]["id"]) == sorted(asked.files)
    assert told.json()["question"]["source"] == "a form"
    as_files = [("files", ("spec.yaml", asked.spec.encode())), *files]
    assert client.post(QUESTIONS, files=as_files).json()["question"]["id"] == told.json()["question"]["id"]


def test_an_archive(client: TestClient, services: Services) -> None:
    asked = another(0)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("mine/spec.yaml", asked.spec)
        archive.writestr("mine/repro.py", asked.files[0][1])
    archive_file = ("mine.zip", packed.getvalue())
    told = client.post(QUESTIONS, files={"archive": archive_file})
    assert told.status_code == 201
    assert told.json()["question"]["id"] == client.post(QUESTIONS, json=handed_in(0)).json()["question"]["id"]
    assert services.questions.files(told.json()["question"]["id"]) == [*asked.files]
    refused = client.post(QUESTIONS, files={"archive": ("x.zip", packed.getvalue()[:-30])})
    assert (refused.status_code, refused.json()["exit_status"]) == (422, 10)
    both = client.post(QUESTIONS, files={"archive": archive_file, "files": ("repro.py", b"")})
    assert (both.status_code, both.json()["mistakes"][0][:8]) == (422, "archive:")


def test_every_mistake_of_a_spec_is_told(client: TestClient) -> None:
    spec = json.dumps({"name": "x", "script": "repro.py", "pakage": "torch", "timeout": -1})
    told = client.post(QUESTIONS, json={"spec": spec, "files": [{"path": "repro.py", "text": "pass"}]})
    assert told.status_code == 422
    assert told.headers["content-type"] == "application/problem+json"
    problem = told.json()
    assert (problem["exit_status"], problem["type"]) == (10, "urn:bisect:problem:spec-error")
    assert [one.split()[2] for one in problem["mistakes"]] == ["timeout:", "pakage:"]
    assert problem["request"] == told.headers["x-request-id"]


def test_mistakes_of_the_request(client: TestClient) -> None:
    def mistakes(body: object) -> list[str]:
        told = client.post(QUESTIONS, json=body)
        assert told.status_code == 422
        found: list[str] = told.json()["mistakes"]
        return found

    assert mistakes({"spec": "name: x", "filse": []}) == ["filse: Extra inputs are not permitted"]
    assert mistakes({}) == ["spec: Field required"]
    bad = [{"path": "a", "base64": "*"}, {"path": "b"}, {"path": "c", "text": "", "base64": ""}]
    assert [one.partition(":")[0] for one in mistakes({"spec": "name: x", "files": bad})] == [
        "files.0",
        "files.1",
        "files.2",
    ]
    assert client.post(QUESTIONS, content=b"\xff{", headers={"content-type": "application/json"}).status_code == 422
    assert client.post(QUESTIONS, content=b"a: b", headers={"content-type": "text/yaml"}).status_code == 415
    assert client.post(QUESTIONS, content=b"--x", headers={"content-type": "multipart/form-data"}).status_code == 400
    assert client.post(QUESTIONS, files={"other": b""}).json()["mistakes"] == ["'other': no such field"]


def test_only_an_administrator_goes_first(client: TestClient) -> None:
    told = client.post(QUESTIONS, json={**handed_in(), "priority": 51})
    assert (told.status_code, told.json()["detail"]) == (403, "a priority above 50 needs the scope `admin`")
    assert client.post(QUESTIONS, json={**handed_in(), "priority": 50}).status_code == 201


def test_lists_are_read_in_pages(client: TestClient) -> None:
    asked = [client.post(QUESTIONS, json=handed_in(number)).json()["question"]["id"] for number in range(5)]
    first = client.get(QUESTIONS, params={"most": 3}).json()
    rest = client.get(QUESTIONS, params={"most": 3, "before": first["next"]}).json()
    assert [one["id"] for one in (*first["questions"], *rest["questions"])] == asked[::-1]
    assert rest["next"] is None
    assert client.get(QUESTIONS, params={"before": "nonsense"}).status_code == 422


def test_lists_are_filtered(client: TestClient) -> None:
    client.post(QUESTIONS, json=handed_in(0))
    client.post(QUESTIONS, json=handed_in(1))

    def names(**wanted: object) -> list[str]:
        return [one["name"] for one in client.get(QUESTIONS, params=wanted).json()["questions"]]  # type: ignore[arg-type]

    assert names(text="toy-1") == ["toy-1"]
    assert names(state=["running", "answered"]) == []
    assert names(state="queued", package="toy") == ["toy-1", "toy-0"]
    assert client.get(QUESTIONS, params={"state": "lost"}).status_code == 422
    assert client.get(QUESTIONS, params={"text": "a\0b"}).status_code == 422  # PostgreSQL takes no NUL


def test_cancelled_and_tried_again(client: TestClient) -> None:
    question = client.post(QUESTIONS, json=handed_in()).json()["question"]["id"]
    assert client.post(f"{QUESTIONS}/{question}/cancel").json()["state"] == "cancelled"
    again = client.post(f"{QUESTIONS}/{question}/retry", json={"fresh": True})
    assert (again.status_code, again.json()["purpose"]) == (202, "fresh")
    assert client.get(f"{QUESTIONS}/{question}").json()["state"] == "queued"


def test_what_is_not_there(client: TestClient) -> None:
    nobody = "q" + "0" * 20
    for path in ("", "/report.json", "/events", "/badge.svg", "/trials/a/b", "/logs/1"):
        told = client.get(f"{QUESTIONS}/{nobody}{path}")
        assert (told.status_code, told.json()["detail"]) == (404, f"there is no question {nobody}")
    assert client.post(f"{QUESTIONS}/{nobody}/cancel").status_code == 404
    assert client.get(f"{QUESTIONS}/q12").status_code == 422
    assert client.get("/api/v1/nothing").json()["title"] == "Not Found"


def test_the_queue(client: TestClient) -> None:
    asked = [client.post(QUESTIONS, json=handed_in(number)).json()["question"]["id"] for number in range(2)]
    told = client.get("/api/v1/queue").json()
    assert [(one["position"], one["question"]) for one in told["waiting"]] == [(1, asked[0]), (2, asked[1])]
    assert (told["total"], told["running"]) == (2, 0)
    assert client.get("/api/v1/queue", params={"most": 1}).json()["total"] == 2
    assert client.get("/api/v1/workers").json() == {"workers": []}
