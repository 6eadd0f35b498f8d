"""The service as its users run it: real processes, and what befalls them."""
