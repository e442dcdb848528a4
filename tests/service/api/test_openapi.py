"""The description of the API: every request that it allows gets an answer that it describes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator
from schemathesis.specs.openapi.checks import positive_data_acceptance

from bisect_tool.service.app import make_app
from bisect_tool.service.rates import Rates, read_rate
from bisect_tool.store.address import file_address
from tests.reports import samples
from tests.rig.answered import answered
from tests.rig.asked import submission
from tests.rig.opened_services import ADDRESS, opened_services

EXAMPLES = 6  # for each route
JUDGED = {"POST /api/v1/questions", "GET /api/v1/builds"}  # what is handed in there is judged by more than a schema


@pytest.fixture(scope="module")
def app(made_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """A server with one question that is answered."""
    folder = tmp_path_factory.mktemp("openapi")
    shutil.copy(made_file, folder / "shared.sqlite")
    unlimited = read_rate("1000000/second")
    with opened_services(file_address(folder / "shared.sqlite", is_own=False), folder / "cache") as services:
        known = answered(services, submission(), samples.exact())
        made = make_app(services, Rates(unlimited, unlimited))
        made.state.known = known
        yield made


@pytest.fixture(scope="module")
def description(app: FastAPI) -> Any:
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers={"Host": "127.0.0.1"})
    schema.config.update(base_url=ADDRESS, headers={"Host": "127.0.0.1"})
    schema.config.generation.update(max_examples=EXAMPLES)
    return schema


ROUNDS = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_every_answer_is_as_described(description: Any, app: FastAPI) -> None:
    operations = [found.ok() for found in description.get_all_operations()]
    assert len(operations) > 10
    for operation in operations:
        app.state.services.questions.cancel(app.state.known)  # what another route began: else its events had no end
        ask_in_every_way(operation, app.state.known)


def ask_in_every_way(operation: Any, known: str) -> None:
    """Also of a question that there is: one that is made up there is not."""

    @given(case=operation.as_strategy())
    @ROUNDS
    def ask(case: Any) -> None:
        if case.path.endswith("/events"):
            case.query = {**(case.query or {}), "until_end": "true"}  # else it would not end
        case.call_and_validate(excluded_checks=[positive_data_acceptance] if operation.label in JUDGED else [])
        if "question" in (case.path_parameters or {}):
            case.path_parameters["question"] = known
            case.call_and_validate()

    ask()


def test_the_description_itself(app: FastAPI) -> None:
    found = app.openapi()
    assert found["openapi"].startswith("3.1")
    for part in found["components"]["schemas"].values():
        Draft202012Validator.check_schema(part)
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], (path, method)
            assert len(operation["responses"]) > 1 or path == "/healthz", (path, method)
