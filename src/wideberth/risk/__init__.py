"""What an adversary learns from a published table, whoever made it."""
