"""What a table can satisfy, what it could satisfy instead, and why no more."""
