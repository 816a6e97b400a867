"""What the book shows and asks: figures and exercises."""
