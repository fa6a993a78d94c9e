-- Every statement may be repeated: H2 keeps what was done when a later one fails, or the process is killed.
-- Times are milliseconds since 1970 in UTC. Amounts are in thousandths for cpu, else in whole units.
CREATE TABLE IF NOT EXISTS sluice_attempt (
  -- in the order in which attempts are written, so that what belongs to them is appended to its index
  id              BIGINT        NOT NULL PRIMARY KEY,
  -- ten hexadecimal digits of the second in which the Workload was created, and its UID
  workload_key    VARCHAR(96)   NOT NULL,
  attempt         INTEGER       NOT NULL,
  version         BIGINT        NOT NULL,
  namespace       VARCHAR(253)  NOT NULL,
  workload        VARCHAR(253)  NOT NULL,
  local_queue     VARCHAR(253)  NOT NULL,
  cluster_queue   VARCHAR(253)  NOT NULL,
  cohort_path     VARCHAR(4096) NOT NULL,
  owner_kind      VARCHAR(253)  NOT NULL,
  owner_name      VARCHAR(253)  NOT NULL,
  reserved_at     BIGINT        NOT NULL,
  ready_at        BIGINT,
  checkpointed_at BIGINT,
  ended_at        BIGINT,
  outcome         VARCHAR(16),
  reason          VARCHAR(253),
  -- whether the end wasn't observed: what somebody else observed of it may replace it
  assumed         BOOLEAN       NOT NULL,
  -- how many amounts it has
  parts           INTEGER       NOT NULL,
  -- no reference, which would need an index: nothing that an attempt has is deleted, and each write of one adds what is missing
  label_set       UUID,
  -- how long it lasted at most; none while it is open
  reach           SMALLINT
);

CREATE UNIQUE INDEX IF NOT EXISTS sluice_attempt_workload ON sluice_attempt (workload_key, attempt);
CREATE INDEX IF NOT EXISTS sluice_attempt_reach ON sluice_attempt (reach, reserved_at, ended_at);

-- What attempts and groups have in common: each set of labels once.
CREATE TABLE IF NOT EXISTS sluice_label_set (
  id UUID NOT NULL PRIMARY KEY
);

CREATE TABLE IF NOT EXISTS sluice_label (
  label_set    UUID         NOT NULL,
  label_key    VARCHAR(317) NOT NULL,
  label_value  VARCHAR(253) NOT NULL,
  PRIMARY KEY (label_set, label_key),
  FOREIGN KEY (label_set) REFERENCES sluice_label_set (id) ON DELETE CASCADE
);

-- An amount that was reserved for a time. It has a further row when it changes within an attempt.
CREATE TABLE IF NOT EXISTS sluice_attempt_amount (
  -- the id of the attempt times 2^24, plus the number of the amount: an index less than with two columns
  id            BIGINT       NOT NULL PRIMARY KEY,
  attempt_id    BIGINT       NOT NULL,
  flavor        VARCHAR(253) NOT NULL,
  resource      VARCHAR(253) NOT NULL,
  amount        BIGINT       NOT NULL,
  from_at       BIGINT       NOT NULL,
  to_at         BIGINT,
  -- the flavor that would have been tried first in the listed order, and how long there the work of a second takes
  baseline      VARCHAR(253),
  baseline_pace NUMERIC(20, 10),
  -- the group in whose sums an amount is; none while it is in no sum
  group_id      UUID
);

-- Sums of the attempts that have ended, for each day in UTC and each group of them.
CREATE TABLE IF NOT EXISTS sluice_usage_group (
  id            UUID          NOT NULL PRIMARY KEY,
  namespace     VARCHAR(253)  NOT NULL,
  local_queue   VARCHAR(253)  NOT NULL,
  cluster_queue VARCHAR(253)  NOT NULL,
  cohort_path   VARCHAR(4096) NOT NULL,
  owner_kind    VARCHAR(253)  NOT NULL,
  outcome       VARCHAR(16)   NOT NULL,
  flavor        VARCHAR(253)  NOT NULL,
  resource      VARCHAR(253)  NOT NULL,
  baseline      VARCHAR(253),
  label_set     UUID,
  FOREIGN KEY (label_set) REFERENCES sluice_label_set (id)
);

-- Amounts times milliseconds. What is compared with a baseline is the time that the work would have taken there.
CREATE TABLE IF NOT EXISTS sluice_usage_day (
  day_at   BIGINT          NOT NULL,
  group_id UUID            NOT NULL,
  reserved NUMERIC(60)     NOT NULL,
  run      NUMERIC(60)     NOT NULL,
  lost     NUMERIC(60)     NOT NULL,
  compared NUMERIC(80, 10) NOT NULL,
  PRIMARY KEY (day_at, group_id),
  FOREIGN KEY (group_id) REFERENCES sluice_usage_group (id)
);

-- What a unit of quota of a flavor's resource costs for an hour, and from when to when. A price that counts has no end.
CREATE TABLE IF NOT EXISTS sluice_price (
  flavor    VARCHAR(253)     NOT NULL,
  resource  VARCHAR(317)     NOT NULL,
  since_at  BIGINT           NOT NULL,
  until_at  BIGINT,
  price     NUMERIC(120, 90) NOT NULL,
  PRIMARY KEY (flavor, resource, since_at)
);

-- A row for each attempt that has ended, flavor and resource; amounts times milliseconds.
CREATE OR REPLACE VIEW sluice_ledger AS
SELECT SUBSTRING(workload_key FROM 11) AS workload_uid, attempt, namespace, workload, local_queue, cluster_queue, cohort_path, owner_kind, owner_name,
       flavor, resource, reserved_at, ready_at, ended_at, outcome, reason,
       MAX(amount) AS amount,
       SUM(amount * reserved_ms) AS reserved,
       SUM(amount * run_ms) AS run,
       SUM(amount * (reserved_ms - run_ms)) AS waited,
       SUM(amount * lost_ms) AS lost
FROM (
  SELECT a.workload_key, a.attempt, a.namespace, a.workload, a.local_queue, a.cluster_queue, a.cohort_path,
         a.owner_kind, a.owner_name, p.flavor, p.resource, a.reserved_at, a.ready_at, a.ended_at, a.outcome, a.reason,
         CAST(p.amount AS NUMERIC(38)) AS amount,
         p.to_at - p.from_at AS reserved_ms,
         CASE WHEN a.ready_at IS NULL OR a.ready_at >= p.to_at THEN 0
              ELSE p.to_at - GREATEST(p.from_at, a.ready_at) END AS run_ms,
         CASE WHEN a.outcome <> 'Evicted' OR a.ready_at IS NULL
                OR GREATEST(a.ready_at, COALESCE(a.checkpointed_at, 0)) >= p.to_at THEN 0
              ELSE p.to_at - GREATEST(p.from_at, a.ready_at, COALESCE(a.checkpointed_at, 0)) END AS lost_ms
  FROM sluice_attempt a
  JOIN sluice_attempt_amount p ON p.attempt_id = a.id
  WHERE a.ended_at IS NOT NULL
) AS parts
GROUP BY workload_key, attempt, namespace, workload, local_queue, cluster_queue, cohort_path, owner_kind, owner_name,
         flavor, resource, reserved_at, ready_at, ended_at, outcome, reason;
