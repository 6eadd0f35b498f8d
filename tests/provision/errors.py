"""The error of a machine that cannot give a test what it needs."""


class ProvisionError(Exception):
    """Something is missing or does not start; the message names the remedy."""
