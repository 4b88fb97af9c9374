"""Governance of a board: what a product is meant to be, the scenarios that hold it to that, and what a change must show."""
