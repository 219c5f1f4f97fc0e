"""Private code shared by the stages, which may change between releases."""
