"""A software device."""


def stand_in() -> bool:
    return False
