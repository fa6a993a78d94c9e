-- Times are milliseconds since 1970 in UTC. Amounts are in thousandths for cpu, else in whole units.
CREATE TABLE sluice_attempt (
  workload_uid    VARCHAR(64)   NOT NULL,
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
  PRIMARY KEY (workload_uid, attempt)
);

CREATE INDEX sluice_attempt_ended ON sluice_attempt (ended_at);
CREATE INDEX sluice_attempt_namespace ON sluice_attempt (namespace);

CREATE TABLE sluice_attempt_label (
  workload_uid VARCHAR(64)  NOT NULL,
  attempt      INTEGER      NOT NULL,
  label_key    VARCHAR(317) NOT NULL,
  label_value  VARCHAR(253) NOT NULL,
  PRIMARY KEY (workload_uid, attempt, label_key),
  FOREIGN KEY (workload_uid, attempt) REFERENCES sluice_attempt (workload_uid, attempt) ON DELETE CASCADE
);

-- An amount that was reserved for a time. It has a further row when it changes within an attempt.
CREATE TABLE sluice_attempt_amount (
  workload_uid VARCHAR(64)  NOT NULL,
  attempt      INTEGER      NOT NULL,
  part         INTEGER      NOT NULL,
  flavor       VARCHAR(253) NOT NULL,
  resource     VARCHAR(253) NOT NULL,
  amount       BIGINT       NOT NULL,
  from_at      BIGINT       NOT NULL,
  to_at        BIGINT,
  PRIMARY KEY (workload_uid, attempt, part),
  FOREIGN KEY (workload_uid, attempt) REFERENCES sluice_attempt (workload_uid, attempt) ON DELETE CASCADE
);

CREATE INDEX sluice_attempt_amount_from ON sluice_attempt_amount (from_at);
CREATE INDEX sluice_attempt_amount_to ON sluice_attempt_amount (to_at);

-- A row for each attempt that has ended, flavor and resource; amounts times milliseconds.
CREATE VIEW sluice_ledger AS
SELECT workload_uid, attempt, namespace, workload, local_queue, cluster_queue, cohort_path, owner_kind, owner_name,
       flavor, resource, reserved_at, ready_at, ended_at, outcome, reason,
       MAX(amount) AS amount,
       SUM(amount * reserved_ms) AS reserved,
       SUM(amount * run_ms) AS run,
       SUM(amount * (reserved_ms - run_ms)) AS waited,
       SUM(amount * lost_ms) AS lost
FROM (
  SELECT a.workload_uid, a.attempt, a.namespace, a.workload, a.local_queue, a.cluster_queue, a.cohort_path,
         a.owner_kind, a.owner_name, p.flavor, p.resource, a.reserved_at, a.ready_at, a.ended_at, a.outcome, a.reason,
         CAST(p.amount AS NUMERIC(38)) AS amount,
         p.to_at - p.from_at AS reserved_ms,
         CASE WHEN a.ready_at IS NULL OR a.ready_at >= p.to_at THEN 0
              ELSE p.to_at - GREATEST(p.from_at, a.ready_at) END AS run_ms,
         CASE WHEN a.outcome <> 'Evicted' OR a.ready_at IS NULL
                OR GREATEST(a.ready_at, COALESCE(a.checkpointed_at, 0)) >= p.to_at THEN 0
              ELSE p.to_at - GREATEST(p.from_at, a.ready_at, COALESCE(a.checkpointed_at, 0)) END AS lost_ms
  FROM sluice_attempt a
  JOIN sluice_attempt_amount p ON p.workload_uid = a.workload_uid AND p.attempt = a.attempt
  WHERE a.ended_at IS NOT NULL
) AS parts
GROUP BY workload_uid, attempt, namespace, workload, local_queue, cluster_queue, cohort_path, owner_kind, owner_name,
         flavor, resource, reserved_at, ready_at, ended_at, outcome, reason;
