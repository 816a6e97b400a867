"""Read answers, say when two are equal, count votes, and estimate how often a vote is right."""
