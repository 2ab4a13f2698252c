"""From source to object code: programs, linkers, and caches of what they made."""
