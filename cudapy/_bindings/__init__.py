"""What the modules of functions share: how their library is loaded, and the exceptions of `checked`."""
