"""Slides from the chapters: a deck a chapter, cut out of its built page, with the book's own figures and the explorer.

``make slides`` writes them. What a figure, a theorem or a prompt needs is on the slide; the prose is in the speaker's
notes. Explained in the teaching page, "How to teach with it".
"""
