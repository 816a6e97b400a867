"""Anyone's sampled answers, and populations whose truth is known."""
