-- Sums of the attempts that have ended, for each day in UTC and each group of them.
CREATE TABLE sluice_usage_group (
  id            UUID          NOT NULL PRIMARY KEY,
  namespace     VARCHAR(253)  NOT NULL,
  local_queue   VARCHAR(253)  NOT NULL,
  cluster_queue VARCHAR(253)  NOT NULL,
  cohort_path   VARCHAR(4096) NOT NULL,
  owner_kind    VARCHAR(253)  NOT NULL,
  outcome       VARCHAR(16)   NOT NULL,
  flavor        VARCHAR(253)  NOT NULL,
  resource      VARCHAR(253)  NOT NULL,
  baseline      VARCHAR(253)
);

CREATE TABLE sluice_usage_group_label (
  group_id    UUID         NOT NULL,
  label_key   VARCHAR(317) NOT NULL,
  label_value VARCHAR(253) NOT NULL,
  PRIMARY KEY (group_id, label_key),
  FOREIGN KEY (group_id) REFERENCES sluice_usage_group (id) ON DELETE CASCADE
);

-- Amounts times milliseconds. What is compared with a baseline is the time that the work would have taken there.
CREATE TABLE sluice_usage_day (
  day_at   BIGINT          NOT NULL,
  group_id UUID            NOT NULL,
  reserved NUMERIC(60)     NOT NULL,
  run      NUMERIC(60)     NOT NULL,
  lost     NUMERIC(60)     NOT NULL,
  compared NUMERIC(80, 10) NOT NULL,
  PRIMARY KEY (day_at, group_id),
  FOREIGN KEY (group_id) REFERENCES sluice_usage_group (id)
);

-- The group in whose sums an amount is; none while it is in no sum. The reach says how long it was reserved at most.
ALTER TABLE sluice_attempt_amount ADD COLUMN group_id UUID;
ALTER TABLE sluice_attempt_amount ADD COLUMN reach SMALLINT;
ALTER TABLE sluice_attempt_amount ADD COLUMN run_at BIGINT;
ALTER TABLE sluice_attempt_amount ADD COLUMN lost_at BIGINT;

DROP INDEX sluice_attempt_amount_from;
DROP INDEX sluice_attempt_amount_to;
DROP INDEX sluice_attempt_namespace;
CREATE INDEX sluice_attempt_amount_reach ON sluice_attempt_amount (reach, from_at, to_at);
