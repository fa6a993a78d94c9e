-- Whether the end of an attempt wasn't observed: what somebody else observed of it may replace it.
ALTER TABLE sluice_attempt ADD COLUMN assumed BOOLEAN DEFAULT FALSE NOT NULL;
