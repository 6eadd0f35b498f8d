"""The proxy beside a sandbox: the standard library of Python 3.8 alone.

It stands where the network is; the sandbox, which has none, gets nothing but this door.
"""
