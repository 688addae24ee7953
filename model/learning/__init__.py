"""How a training runs: what it begins with, what a step costs, how it is stopped and goes on."""
