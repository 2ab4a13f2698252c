"""The types of cuda.h: constants, enums, handles, structs and attribute tables, a module each."""
