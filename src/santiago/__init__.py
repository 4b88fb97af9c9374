"""Santiago compiles a PRD into a deterministic plan and has coding agents carry it out."""

__version__ = "0.1.0"
