"""Who answers questions and asks for things: people at a terminal, or from outside through the inbox."""
