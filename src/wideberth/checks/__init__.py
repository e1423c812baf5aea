"""Which principles a table satisfies, by how much, and which it could satisfy."""
