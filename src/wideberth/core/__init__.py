"""Values as numbers: exact arithmetic, types, codes, groups; and memory, threads, progress."""
