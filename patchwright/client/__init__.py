"""A typed client of the API of a Patchwright service.

It knows the service by its OpenAPI document alone, and may be used on any machine.
"""

from patchwright.client.client import ApiProblemError, Client, TooManyRequestsError

__all__ = ["ApiProblemError", "Client", "TooManyRequestsError"]
