"""The program that runs inside a sandbox and carries out the agent's actions there.

The host packs this folder into one file (`patchwright.sandbox.host.bootstrap`). It
imports only the standard library and runs on Python 3.8 and newer.
"""
