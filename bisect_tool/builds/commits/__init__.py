"""Commits as builds; the channel is `bisect_tool.builds.channels.commit`."""
