"""Checks of the days of a window: drops that were not ingested or changed since, and unusual numbers of rows."""
