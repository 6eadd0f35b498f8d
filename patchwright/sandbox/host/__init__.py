"""What the host has of a sandbox: its start, the questions to it, and its way out."""
