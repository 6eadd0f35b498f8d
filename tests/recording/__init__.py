"""Pictures of what a command shows on a terminal: `make recording`."""
