"""Daily tables of a warehouse: counts of one day's questions and answers, and the splits of earlier versions."""
