"""Look-ups: when did this regress? From what is known already, without running anything."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from bisect_tool.service.access import Here, Reader
from bisect_tool.service.api.models import Given
from bisect_tool.service.api.words import problems
from bisect_tool.service.finding import LONGEST_QUERY, MOST_ANSWERS, MOST_QUERIES, By, Findings, Query
from bisect_tool.service.looking_up import look_up

router = APIRouter(tags=["lookups"])
_NAME = 200  # characters


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

    def query(self) -> Query:
        """The same for the look-up."""
        return Query(**{**self.model_dump(), "channels": tuple(self.channels)})


class NewLookups(Given):
    """Some queries at once."""

    queries: list[LookupQuery] = Field(min_length=1, max_length=MOST_QUERIES)


@router.post("/lookups", responses=problems(408, 413))
def post_lookups(lookups: NewLookups, services: Here, _: Reader) -> Findings:
    """When did each of these regress? Answered from stored verdicts, also partially: a finding for each, in their order."""
    return Findings(tuple(look_up(services.results, [one.query() for one in lookups.queries])))
