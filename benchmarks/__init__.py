"""Scripts behind every figure of the documentation."""
