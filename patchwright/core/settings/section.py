"""What the sections of the settings have in common."""

from pydantic import ConfigDict

from patchwright.core.types.base import Replaceable


class SettingsSection(Replaceable):
    """A frozen table of settings, in which every key is known.

    `hide_input_in_errors` keeps a wrong secret out of the message about it.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        coerce_numbers_to_str=True,
        allow_inf_nan=False,
    )
