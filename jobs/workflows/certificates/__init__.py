"""Certificates of an index: judged requests, certification, simulation, answers that they permit."""
