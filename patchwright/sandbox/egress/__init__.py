"""A way out of a sandbox, to the hosts that are allowed and no others."""
