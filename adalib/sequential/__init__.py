"""What can be known while the answers come in."""
