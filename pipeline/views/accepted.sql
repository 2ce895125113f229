-- Usable trajectories that did the whole task.
SELECT * FROM usable WHERE grade = 'complete'
