"""Work by the board: requests become runs, claims become attempts, and what the planner accepts is archived."""
