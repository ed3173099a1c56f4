"""The page: the whole robot in a browser tab."""
