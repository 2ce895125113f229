"""pathproof: trajectories of GUI agents with proof. Imports nothing, so that any part starts alone."""
