"""Certificates: a bound on the share of wrong answers, shown by judged requests, and watched while it is used."""
