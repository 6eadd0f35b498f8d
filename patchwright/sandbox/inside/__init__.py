"""Programs that the host puts into a sandbox and runs there."""
