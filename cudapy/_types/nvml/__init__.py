"""The types of nvml.h: constants, enums, handles and structs, a module each, and the names of the raising face."""
