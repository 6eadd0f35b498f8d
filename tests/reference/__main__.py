"""Write the pages of `docs/` and the generated modules anew: `make reference`."""

import json

from tests.architecture.tree import ROOT
from tests.reference.client_models import MODELS_FILE, client_models
from tests.reference.pages import PAGES
from tests.reference.providers_table import PROVIDERS_FILE, providers_table

for name, make in PAGES.items():
    (ROOT / "docs" / name).write_text(make())
document = json.loads((ROOT / "docs" / "openapi.json").read_text())
MODELS_FILE.write_text(client_models(document))
PROVIDERS_FILE.write_text(providers_table())
