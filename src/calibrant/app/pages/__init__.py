"""The pages of the application, one module per part."""
