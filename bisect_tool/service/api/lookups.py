"""Look-ups: when did this regress? From what is known already, without running anything."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from bisect_tool.service.access import Here, Reader
from bisect_tool.service.api.models import Given
from bisect_tool.service.api.words import problems
from bisect_tool.service.finding import (
    LONGEST_QUERY,
    MOST_ANSWERS,
    MOST_QUERIES,
    AskedCase,
    AskedSpec,
    By,
    Findings,
    Query,
)
from bisect_tool.service.looking_up import look_up

router = APIRouter(tags=["lookups"])
_NAME = 200  # characters
_CASES = 100
_SHA = "^[0-9a-f]{64}$"


class LookupCase(Given):
    """A case of a spec, as its trials are stored."""

    name: str = Field(min_length=1, max_length=100)
    digest: str = Field(
        pattern=_SHA, description="Over its arguments, variables and time limit, as `bisect when` says."
    )
    is_control: bool = False
    compared: bool = Field(default=False, description="Its numbers are compared with a build.")


class LookupSpec(Given):
    """With `by: spec`: what verdicts must agree with to be about the same spec, besides the repro."""

    cases: list[LookupCase] = Field(min_length=1, max_length=_CASES)
    beside: str = Field(max_length=16, description="Digest of what is installed beside a build.")
    naming: str = Field(max_length=16, description="Digest of the names that the spec gives to failures.")
    variant: str = Field(default="auto", max_length=_NAME)
    devices: list[str] = Field(default=["cuda", "cpu"], min_length=1, max_length=2)
    python: str | None = Field(default=None, max_length=_NAME)

    def asked(self) -> AskedSpec:
        """The same for the look-up."""
        cases = tuple(AskedCase(**one.model_dump()) for one in self.cases)
        own = self.model_dump(exclude={"cases", "devices"})
        return AskedSpec(cases=cases, devices=tuple(self.devices), **own)


class LookupQuery(Given):
    """One question "when did this regress?"."""

    text: str = Field(
        min_length=1,
        max_length=LONGEST_QUERY,
        description="A pasted error or traceback; the name of an operator, failure, spec or package; the address of an "
        "issue; the digest of a repro.",
        examples=["diagonal_scatter"],
    )
    by: By = Field(default=By.AUTO, description="What the text is; `auto` looks at it.")
    package: str | None = Field(default=None, max_length=_NAME, description="Only answers about this package.")
    device: str | None = Field(default=None, max_length=_NAME, description="Only those of this kind of device.")
    channels: list[str] = Field(default=[], max_length=10, description="With `spec`: where builds come from.")
    from_: str | None = Field(default=None, max_length=_NAME, description="With `spec`: the first build.")
    to: str | None = Field(default=None, max_length=_NAME, description="With `spec`: the last build.")
    most: int = Field(default=5, ge=1, le=MOST_ANSWERS, description="How many answers.")
    label: str = Field(default="", max_length=_NAME, description="What the finding calls the query.")

    asked: LookupSpec | None = Field(
        default=None, description="With `spec`: also a range that nobody asked for is answered as far as it is known."
    )

    def query(self) -> Query:
        """The same for the look-up."""
        own = self.model_dump(exclude={"asked", "channels"})
        return Query(**own, channels=tuple(self.channels), asked=self.asked.asked() if self.asked else None)


class NewLookups(Given):
    """Some queries at once."""

    queries: list[LookupQuery] = Field(min_length=1, max_length=MOST_QUERIES)


@router.post("/lookups", responses=problems(408, 413))
def post_lookups(lookups: NewLookups, services: Here, _: Reader) -> Findings:
    """When did each of these regress? Answered from stored verdicts, also partially: a finding for each, in their order."""
    return Findings(tuple(look_up(services.results, [one.query() for one in lookups.queries])))
