-- Usable trajectories that rightly report an infeasible task.
SELECT * FROM usable WHERE grade = 'infeasible'
