"""Container images: the node base, and a store's packages on top of it."""
