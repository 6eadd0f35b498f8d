"""Servers of the Model Context Protocol that behave well, or badly on request."""
