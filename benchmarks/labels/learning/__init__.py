"""Parts of the scripts that learn the shipped trees and weights."""
