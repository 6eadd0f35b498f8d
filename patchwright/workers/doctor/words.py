"""Words that several checks use."""


def repositories(count: int) -> str:
    return "1 repository" if count == 1 else f"{count} repositories"
