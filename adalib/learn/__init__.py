"""What can be known of a question before asking: features of its text, and policies that learn from them."""
