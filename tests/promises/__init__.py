"""Each promise of the front page, as a story that would fail without it."""
