"""Games that play on a page, with no kernel and no network: a fragment of HTML with data, and a script of the book."""
