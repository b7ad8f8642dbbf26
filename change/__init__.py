"""What a branch changes in a stack: the difference of two revisions."""
