"""Terminal output, reports and charts."""
