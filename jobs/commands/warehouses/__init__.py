"""Commands of a warehouse: nights, versions, rollback and removal of what is not needed any more."""
