"""The set-up of a repository: inferred from its files, and kept for later sandboxes."""
