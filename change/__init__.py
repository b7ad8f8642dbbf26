"""What a branch changes: its program previewed by the engine against the rehearsed base."""
