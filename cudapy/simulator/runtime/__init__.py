"""The functions of the runtime API, on top of those of the driver."""
