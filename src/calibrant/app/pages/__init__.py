"""The pages of the application, one module per part of the way through it."""
