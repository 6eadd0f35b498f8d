"""Running one job: from the claim to the last effect."""
