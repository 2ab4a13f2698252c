"""The order of work: streams, events, what they queue, and captures."""
