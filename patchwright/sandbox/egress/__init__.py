"""The proxy beside a sandbox: the standard library of Python 3.8 alone.

It runs outside the sandbox, where there is a network; the sandbox has none and reaches
only this proxy.
"""
