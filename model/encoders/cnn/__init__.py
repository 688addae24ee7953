"""The convolutional encoder of Bonadiman et al. (2019)."""
