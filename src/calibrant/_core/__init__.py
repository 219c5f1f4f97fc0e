"""What the stages share; private, and free to change between releases."""
