"""What a published table is still worth."""
