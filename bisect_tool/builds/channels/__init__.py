"""One file for each channel; see `bisect_tool.builds.channel`."""
