"""The machine or container of a process: its limits, and what they mean for libraries."""
