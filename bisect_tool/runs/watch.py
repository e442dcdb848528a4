"""Who hears how each spec of a run fares, and says which faults end that spec alone."""

from __future__ import annotations

from bisect_tool.reports.report import Report
from bisect_tool.spec.reading import ReadSpec


class Watch:
    """Hears nothing, and lets every fault end the run: what `bisect run` does. `bisect batch` has one of its own."""

    is_patient = False  # whether specs are answered one by one, each as soon as nothing more is wanted for it

    def spares(self, spec: ReadSpec, error: Exception, *, is_begun: bool) -> bool:  # noqa: ARG002  for those that do
        """Whether `error` is the fault of `spec` alone: it is given up, and the others go on.

        `is_begun`: its builds are listed, and it was searched already.
        """
        return False

    def begins(self, spec: ReadSpec, run: str) -> None:
        """`spec` is searched in its first channel, or its next one, as the run of that id."""

    def looked(self) -> None:
        """A decision is about to be made: now and then this is called, in the thread that calls `answered`."""

    def answered(self, spec: ReadSpec, report: Report, *, is_last: bool) -> None:
        """Nothing more is wanted for `spec`; with `is_last` no other report on it comes from this run."""
