"""The demo: one mention on an emulated GitHub becomes a pull request."""
