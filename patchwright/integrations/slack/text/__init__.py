"""Slack's own markup, read and written."""
