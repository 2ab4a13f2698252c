"""What breaks libraries like this one, one thing a file: docs/reliability.md has the table."""
