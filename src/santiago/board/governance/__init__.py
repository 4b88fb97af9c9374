"""Governance of a board: what a product is meant to be, the scenarios that test that, and what a change must show."""
