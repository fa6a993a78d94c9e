-- When the attempts of a namespace were deleted that had ended: who still remembers one of them doesn't write it again.
CREATE TABLE IF NOT EXISTS sluice_deletion (
  namespace  VARCHAR(253) NOT NULL PRIMARY KEY,
  deleted_at BIGINT       NOT NULL
);
