"""What is known of a table, and how to publish it: roles, types, hierarchies, principles."""
