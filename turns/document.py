"""All that one run of the benchmark found, as a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .record import Record


@dataclass
class Document:
    """What was measured, on what, and what was not and why. seconds: how long each test took."""

    machine: Mapping[str, str]
    records: Sequence[Record]
    skipped: Mapping[str, str]
    seconds: Mapping[str, float] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Everything as JSON, raw times included."""
        document = {
            "machine": dict(self.machine),
            "records": [record.as_json() for record in self.records],
            "skipped": dict(self.skipped),
            "seconds": {test: round(seconds, 3) for test, seconds in self.seconds.items()},
        }
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")

    def write_at_once(self, path: Path, records: Sequence[str]) -> None:
        """The same, so that a run that is stopped leaves all or what was there before.

        records: as JSON already.
        """
        rest = [json.dumps(dict(part)) for part in (self.machine, self.skipped, self.seconds)]
        text = '{{"machine": {}, "skipped": {}, "seconds": {}, "records": ['.format(*rest)
        new = path.with_name(f"{path.name}.new")
        new.write_text(text + ",\n".join(records) + "]}\n")
        new.replace(path)

    @classmethod
    def read(cls, path: Path) -> Document:
        """What `write` wrote."""
        data = json.loads(path.read_text())
        records = [Record.from_json(record) for record in data["records"]]
        return cls(data["machine"], records, data["skipped"], data.get("seconds", {}))


def merged(documents: Sequence[Document]) -> Document:
    """Several runs as one: the rounds of a row in all of them. The facts are those of the first."""
    rows: dict[tuple[str, str], Record] = {}
    for document in documents:
        for record in document.records:
            known = rows.get((record.group, record.name))
            rows[record.group, record.name] = known.joined(record) if known else record
    first = documents[0]
    return Document(first.machine, list(rows.values()), first.skipped, first.seconds)
