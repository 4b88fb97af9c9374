"""Find the lists of units that a document in prose offers, and choose one.

Each module finds lists by one kind of evidence, and `choice` ranks them. A lower `rule` is stronger evidence: 8 headings and
9 items with ids; 10 headings with criteria; 11 tables; 12 items with criteria, or that depend on each other by number;
13 As-a sentences; 14 numbered items under Requirements or Steps; 15 tables of progress.
"""
