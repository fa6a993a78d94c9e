-- H2 finds amounts by the range of their ids, which PostgreSQL doesn't plan well; another index costs it little.
CREATE INDEX IF NOT EXISTS sluice_attempt_amount_attempt ON sluice_attempt_amount (attempt_id);
