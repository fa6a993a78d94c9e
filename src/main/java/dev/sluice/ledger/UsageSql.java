package dev.sluice.ledger;

import dev.sluice.ledger.UsageQuery.Group;
import dev.sluice.ledger.UsageQuery.Span;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/**
 * The statements that answer a query for one span: what was used, and, beside it, what that cost.
 * Money is added up by a join with the prices, so that a database reads them once, and not for each
 * row. Numbers are the program's own and stand in the text, so that no database has to guess the
 * type of a parameter; what people wrote is a parameter.
 */
final class UsageSql {

  private final List<String> values = new ArrayList<>();
  private final String names;
  private final String columns;
  private final String from;
  private final String where;

  /** Until when an amount counts. */
  private final String end;

  /** From when on it does. */
  private final String begin;

  private final long until;

  UsageSql(UsageQuery query, Span span, Instant now) {
    long since = span.since().toEpochMilli();
    until = Math.min(span.until().toEpochMilli(), Math.max(since, now.toEpochMilli()));
    end = "LEAST(COALESCE(p.to_at, %d), %d)".formatted(until, until);
    begin = "GREATEST(p.from_at, %d)".formatted(since);
    boolean grouped = !query.groups().isEmpty();
    StringJoiner columnList = new StringJoiner(", ", "", grouped ? ", " : "");
    StringJoiner nameList = new StringJoiner(", ", "", grouped ? ", " : "");
    StringBuilder joins =
        new StringBuilder(
            "FROM sluice_attempt a JOIN sluice_attempt_amount p"
                + " ON p.workload_uid = a.workload_uid AND p.attempt = a.attempt");
    for (int i = 0; i < query.groups().size(); i++) {
      Group group = query.groups().get(i);
      nameList.add("g" + i);
      if (group.label().isPresent()) {
        columnList.add("COALESCE(l" + i + ".label_value, '') AS g" + i);
        joins.append(
            """
             LEFT JOIN sluice_attempt_label l%1$d ON l%1$d.workload_uid = a.workload_uid
              AND l%1$d.attempt = a.attempt AND l%1$d.label_key = ?\
            """
                .formatted(i));
        values.add(group.label().get());
      } else {
        columnList.add(group.column() + " AS g" + i);
      }
    }
    names = nameList.toString();
    columns = columnList.toString();
    from = joins.toString();
    values.addAll(query.scope().values());
    where =
        "WHERE p.from_at < %d AND (p.to_at IS NULL OR p.to_at > %d)%s"
            .formatted(
                until,
                since,
                query.scope().condition().isEmpty() ? "" : " AND " + query.scope().condition());
  }

  /** The values of the parameters, the same for each statement. */
  List<String> values() {
    return values;
  }

  /**
   * The groups, flavor, resource; amounts times milliseconds that were reserved, run and lost; and
   * how many amounts have a baseline.
   */
  String uses() {
    return """
    SELECT %1$sflavor, resource, SUM(amount * reserved_ms), SUM(amount * run_ms), SUM(amount * lost_ms), COUNT(baseline)
    FROM (SELECT %2$sp.flavor, p.resource, CAST(p.amount AS NUMERIC(38)) AS amount, p.baseline,
        GREATEST(0, %3$s - %4$s) AS reserved_ms,
        CASE WHEN a.ready_at IS NULL THEN 0 ELSE GREATEST(0, %3$s - GREATEST(%4$s, a.ready_at)) END AS run_ms,
        CASE WHEN a.ready_at IS NULL OR a.outcome IS NULL OR a.outcome <> 'Evicted' THEN 0
          ELSE GREATEST(0, %3$s - GREATEST(%4$s, a.ready_at, COALESCE(a.checkpointed_at, 0))) END AS lost_ms
      %5$s %6$s) AS parts
    GROUP BY %1$sflavor, resource HAVING SUM(reserved_ms) > 0 ORDER BY %1$sflavor, resource\
    """
        .formatted(names, columns, end, begin, from, where);
  }

  /**
   * The groups, flavor, resource; what was paid, and the part of it that is compared with a
   * baseline, in prices for an hour times milliseconds.
   */
  String costs() {
    return money("p.flavor", end, "1");
  }

  /** The same of what the same work would have cost in the baseline. */
  String baselines() {
    String kept =
        """
        (CASE WHEN a.ready_at IS NULL OR a.outcome IS NULL OR a.outcome <> 'Evicted' THEN %1$s
          ELSE LEAST(%1$s, GREATEST(a.ready_at, COALESCE(a.checkpointed_at, 0))) END)\
        """
            .formatted(end);
    return money("p.baseline", kept, "p.baseline_pace");
  }

  private String money(String flavor, String last, String pace) {
    return """
    SELECT %1$sflavor, resource, SUM(money), SUM(CASE WHEN baseline IS NULL THEN 0 ELSE money END)
    FROM (SELECT %2$sp.flavor, p.resource, p.baseline, CAST(p.amount AS NUMERIC(38)) * %9$s * r.price
          * (LEAST(%3$s, COALESCE(r.until_at, %8$d)) - GREATEST(%4$s, r.since_at)) AS money
      %5$s JOIN sluice_price r ON r.flavor = %7$s AND r.resource = p.resource
        AND r.since_at < %3$s AND COALESCE(r.until_at, %8$d) > %4$s
      %6$s AND %3$s > %4$s) AS parts
    GROUP BY %1$sflavor, resource ORDER BY %1$sflavor, resource\
    """
        .formatted(names, columns, last, begin, from, where, flavor, until, pace);
  }
}
