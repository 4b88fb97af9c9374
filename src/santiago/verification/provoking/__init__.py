"""Trying checks again where the work could reach its judge."""
