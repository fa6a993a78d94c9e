-- The flavor that would have been tried first in the listed order, and how long there the work of a second takes.
ALTER TABLE sluice_attempt_amount ADD COLUMN baseline VARCHAR(253);
ALTER TABLE sluice_attempt_amount ADD COLUMN baseline_pace NUMERIC(20, 10);
