"""How rows are formed into groups that satisfy the principles."""
