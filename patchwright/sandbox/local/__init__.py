"""Sandboxes on this machine, without a container engine."""
