"""What a command says before it has set up anything to say it with."""

import sys

import structlog
from rich.console import Console
from rich.text import Text

from patchwright.core.errors import PatchwrightError
from patchwright.workers.cli.lines import plain


def log_to_stderr() -> None:
    """Show what goes wrong until the command sets up logging."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))


def print_error(error: PatchwrightError) -> None:
    console = Console(stderr=True)
    text = Text.assemble(("error: ", "bold red"), plain(str(error)))
    # Where nobody looks at the width, no line is broken.
    console.print(text, soft_wrap=not console.is_terminal)
