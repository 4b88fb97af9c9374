"""The lists of units that a prose document offers, and the choice between them.

Each module finds lists by one kind of evidence (ids, numbers with criteria, tables, As-a sentences); `choice` ranks
what they found. The numbers called `rule` are those of the written extraction rules: a lower one is stronger evidence.
"""
