"""Which image a sandbox is made from when nobody names one."""

# Debian with Python, git and a compiler; any image with Python 3.8 and git will do.
DEFAULT_IMAGE = "python:3.12-bookworm"
