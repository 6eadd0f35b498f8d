"""Whatever anybody sends, the API answers as its document says, and never fails.

Schemathesis makes the requests from the document.
"""

import random
from pathlib import Path
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS, load_all_checks

from patchwright.workers.db.database import Database
from tests.adapters.api.serving import ADMIN, WRITER, serving_api
from tests.schema import add_sqlite_file
