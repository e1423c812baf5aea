"""Full-domain generalization: one level for each quasi-identifier; the lattice of all choices."""
