"""What can be known of a question before asking: features of its text, and learned policies."""
