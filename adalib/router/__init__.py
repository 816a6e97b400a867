"""The policy at work: a budget that is held, question after question."""
