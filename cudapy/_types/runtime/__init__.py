"""The types of the Runtime API: constants, enums, handles, structs and attribute tables, a module each."""
