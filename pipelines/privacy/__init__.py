"""Personal data: found in texts and replaced before anything is written."""
