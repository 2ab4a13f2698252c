"""What core offers by the name of a module: core.typing, core.utils, core.system and its two."""
