"""Signs in which texts differ: codes, operators and the brackets of arithmetic."""
