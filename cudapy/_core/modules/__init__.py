"""What core offers by the name of a module: core.typing, core.utils, core.texture, core.checkpoint ...."""
