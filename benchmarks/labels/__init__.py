"""Quality of cluster labels, and the learning of the shipped trees and weights that make them."""
