"""What supple must reach in the gauntlet, and how it compares with other libraries."""
