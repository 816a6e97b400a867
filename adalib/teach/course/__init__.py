"""What a course hands out and collects: homework, flaws to find, tokens, and quizzes for a learning platform."""
