-- What a unit of quota of a flavor's resource costs for an hour, and from when to when. A price that counts has no end.
CREATE TABLE sluice_price (
  flavor    VARCHAR(253)     NOT NULL,
  resource  VARCHAR(317)     NOT NULL,
  since_at  BIGINT           NOT NULL,
  until_at  BIGINT,
  price     NUMERIC(120, 90) NOT NULL,
  PRIMARY KEY (flavor, resource, since_at)
);
