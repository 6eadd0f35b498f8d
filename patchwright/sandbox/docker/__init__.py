"""Sandboxes in containers of a Docker engine."""
