"""One file for each report format; see `bisect_tool.reports.writing`."""
