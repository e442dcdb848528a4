"""The service of `deploy/compose.yaml`: it fits the schema, and its words are those of the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import check_jsonschema
import pytest
import yaml
from click import Command, Context
from jsonschema.validators import validator_for

from bisect_tool.cli import cli
from bisect_tool.settings import Settings
from tests.deploy.schemas import DEPLOY

FILE = DEPLOY / "compose.yaml"
SCHEMA = Path(check_jsonschema.__file__).parent / "builtin_schemas" / "vendor" / "compose-spec.json"


@pytest.fixture
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return found


def faults(document: dict[str, Any]) -> list[str]:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return [f"{error.json_path}: {error.message}" for error in validator_for(schema)(schema).iter_errors(document)]


def test_it_fits_the_schema(compose: dict[str, Any]) -> None:
    assert faults(compose) == []


def test_the_schema_finds_a_mistake(compose: dict[str, Any]) -> None:
    compose["services"]["server"]["port"] = ["8765:8765"]
    assert any("port" in fault for fault in faults(compose))


@pytest.mark.parametrize("name", ["server", "worker"])
def test_its_commands_are_those_of_the_program(compose: dict[str, Any], name: str) -> None:
    word, *rest = compose["services"][name]["command"]
    command = cli.get_command(Context(cli), word)
    assert isinstance(command, Command)
    assert command.make_parser(Context(command)).parse_args(list(rest))[1] == []


def test_its_variables_are_settings(compose: dict[str, Any]) -> None:
    variables = {
        name for one in compose["services"].values() for name in one["environment"] if name.startswith("BISECT_")
    }
    assert variables == {"BISECT_STORE", "BISECT_LOGS"}
    assert variables <= {f"BISECT_{name.upper()}" for name in Settings.__dataclass_fields__}


def test_whatever_is_mounted_and_joined_is_there(compose: dict[str, Any]) -> None:
    services = compose["services"].values()
    mounted = {volume.partition(":")[0] for one in services for volume in one["volumes"]}
    assert mounted == set(compose["volumes"])
    assert {network for one in services for network in one["networks"]} == set(compose["networks"])


def test_only_this_host_reaches_it(compose: dict[str, Any]) -> None:
    """Who may ask has code of theirs run: a proxy with TLS comes before others do."""
    assert [port for one in compose["services"].values() for port in one.get("ports", ())] == ["127.0.0.1:8765:8765"]
    assert compose["networks"]["store"] == {"internal": True}
