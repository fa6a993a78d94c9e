package dev.sluice.ledger;

import dev.sluice.ledger.UsageQuery.Group;
import dev.sluice.ledger.UsageQuery.Span;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The statements that answer a query for one span: what was used, and, beside it, what that cost.
 * Whole days are read from the sums of attempts that have ended, and rows only for what is left
 * over at both ends, for attempts that are in no sum, and for days within which a price changed
 * (docs/ledger.md#sums). Numbers are the program's own and stand in the text, so that no database
 * has to guess the type of a parameter; what people wrote is a parameter.
 */
final class UsageSql {

  /** With more days than this, all that prices are applied to is read from rows. */
  private static final int MOST_CHANGES = 8;

  private static final String OF_ATTEMPT =
      "FROM sluice_attempt_amount p JOIN sluice_attempt a"
          + " ON a.workload_uid = p.workload_uid AND a.attempt = p.attempt";
  private static final String OF_GROUP =
      "FROM sluice_attempt_amount p JOIN sluice_usage_group a ON a.id = p.group_id";
  private static final String OF_DAY =
      "FROM sluice_usage_day s JOIN sluice_usage_group a ON a.id = s.group_id";

  private static final String LOST =
      "CASE WHEN a.outcome = 'Evicted' AND a.ready_at IS NOT NULL"
          + " THEN GREATEST(a.ready_at, COALESCE(a.checkpointed_at, 0)) END";

  private final UsageQuery query;
  private final NavigableSet<Long> priceChanges;
  private final long since;
  private final long until;

  /** The first whole day, and the end of the last one. */
  private final long firstDay;

  private final long lastDay;

  /**
   * Statements for a span.
   *
   * @param priceChanges the begins of the days within which a price begins or ends
   */
  UsageSql(UsageQuery query, Span span, Instant now, NavigableSet<Long> priceChanges) {
    this.query = query;
    this.priceChanges = priceChanges;
    since = span.since().toEpochMilli();
    until = Math.min(span.until().toEpochMilli(), Math.max(since, now.toEpochMilli()));
    boolean sums = query.groups().stream().noneMatch(Group::ofAttempt);
    firstDay = sums ? -Math.floorDiv(-since, UsageSums.DAY) * UsageSums.DAY : until;
    lastDay = Math.max(firstDay, Math.floorDiv(until, UsageSums.DAY) * UsageSums.DAY);
  }

  /** A statement with the values of its parameters. */
  record Statement(String text, List<String> values) {}

  /** What a statement reads amounts for. */
  private enum Of {
    USES,
    COSTS,
    BASELINES
  }

  /** Amounts of a time that are read as rows. */
  private record Rows(String from, String where, Period period, String readyAt, String lostAt) {}

  /**
   * @param cut whether only prices that don't count for the whole of it are applied
   */
  private record Period(long since, long until, boolean cut) {

    boolean isEmpty() {
      return since >= until;
    }
  }

  /**
   * The groups, flavor, resource; amounts times milliseconds that were reserved, run and lost; and
   * how many amounts have a baseline.
   */
  Statement uses() {
    return statement(Of.USES);
  }

  /**
   * The groups, flavor, resource; what was paid, and the part of it that is compared with a
   * baseline, in prices for an hour times milliseconds.
   */
  Statement costs() {
    return statement(Of.COSTS);
  }

  /** The same of what the same work would have cost in the baseline. */
  Statement baselines() {
    return statement(Of.BASELINES);
  }

  private Statement statement(Of of) {
    List<Long> changes =
        of == Of.USES || firstDay >= lastDay
            ? List.of()
            : List.copyOf(priceChanges.subSet(firstDay, lastDay));
    boolean sums = firstDay < lastDay && changes.size() <= MOST_CHANGES;
    List<Period> periods = new ArrayList<>();
    if (sums) {
      periods.add(new Period(since, firstDay, false));
      periods.add(new Period(lastDay, until, false));
      changes.forEach(day -> periods.add(new Period(day, day + UsageSums.DAY, true)));
    } else {
      periods.add(new Period(since, until, false));
    }
    List<String> branches = new ArrayList<>();
    if (sums) {
      branches.add(of == Of.USES ? usesOfDays() : moneyOfDays(of));
    }
    Period whole = new Period(since, until, false);
    for (String reach : List.of("IS NULL", "= " + UsageSums.REACHES.size())) {
      branches.add(branch(of, new Rows(OF_ATTEMPT, "p.reach " + reach, whole, "a.ready_at", LOST)));
    }
    for (Period period : periods) {
      for (int reach = 0; reach < UsageSums.REACHES.size() && !period.isEmpty(); reach++) {
        String where =
            "p.reach = %d AND p.from_at > %d"
                .formatted(reach, period.since() - UsageSums.REACHES.get(reach));
        String from = query.groups().stream().anyMatch(Group::ofAttempt) ? OF_ATTEMPT : OF_GROUP;
        branches.add(branch(of, new Rows(from, where, period, "p.run_at", "p.lost_at")));
      }
    }
    String names = names() + "flavor, resource";
    String columns =
        of == Of.USES
            ? "SUM(reserved), SUM(run), SUM(lost), SUM(compared)"
            : "SUM(money), SUM(compared)";
    String text =
        "SELECT %s, %s FROM (%s) AS parts GROUP BY %s%s ORDER BY %s"
            .formatted(
                names,
                columns,
                String.join(" UNION ALL ", branches),
                names,
                of == Of.USES ? " HAVING SUM(reserved) <> 0" : "",
                names);
    return new Statement(text, values(branches.size()));
  }

  private List<String> values(int branches) {
    List<String> values = new ArrayList<>();
    query.groups().forEach(group -> group.label().ifPresent(values::add));
    values.addAll(query.scope().values());
    return Collections.nCopies(branches, values).stream().flatMap(List::stream).toList();
  }

  private String names() {
    return IntStream.range(0, query.groups().size())
        .mapToObj(i -> "g" + i + ", ")
        .collect(Collectors.joining());
  }

  /** The columns of the groups, without names or with them. */
  private String columns(boolean named) {
    StringBuilder columns = new StringBuilder();
    for (int i = 0; i < query.groups().size(); i++) {
      Group group = query.groups().get(i);
      columns.append(
          group.label().isPresent() ? "COALESCE(l" + i + ".label_value, '')" : group.column());
      columns.append(named ? " AS g" + i + ", " : ", ");
    }
    return columns.toString();
  }

  /** The joins with the labels of attempts or of groups of them. */
  private String labels(boolean ofAttempt) {
    StringBuilder joins = new StringBuilder();
    for (int i = 0; i < query.groups().size(); i++) {
      if (query.groups().get(i).label().isPresent()) {
        joins.append(
            (ofAttempt
                    ? " LEFT JOIN sluice_attempt_label l%1$d ON l%1$d.workload_uid = a.workload_uid"
                        + " AND l%1$d.attempt = a.attempt"
                    : " LEFT JOIN sluice_usage_group_label l%1$d ON l%1$d.group_id = a.id")
                .formatted(i));
        joins.append(" AND l%d.label_key = ?".formatted(i));
      }
    }
    return joins.toString();
  }

  private String scope() {
    String condition = query.scope().condition();
    return condition.isEmpty() ? "" : " AND " + condition;
  }

  private String usesOfDays() {
    return """
    SELECT %1$sa.flavor AS flavor, a.resource AS resource, SUM(s.reserved) AS reserved, SUM(s.run) AS run,
      SUM(s.lost) AS lost, COUNT(a.baseline) AS compared
    %2$s%3$s WHERE s.day_at >= %4$d AND s.day_at < %5$d%6$s GROUP BY %7$sa.flavor, a.resource\
    """
        .formatted(
            columns(true), OF_DAY, labels(false), firstDay, lastDay, scope(), columns(false));
  }

  /** Days for all of which a price counts. */
  private String moneyOfDays(Of of) {
    return """
    SELECT %1$sa.flavor AS flavor, a.resource AS resource, r.price * SUM(%8$s) AS money,
      r.price * SUM(CASE WHEN a.baseline IS NULL THEN 0 ELSE %8$s END) AS compared
    %2$s%3$s JOIN sluice_price r ON r.flavor = %9$s AND r.resource = a.resource
      AND r.since_at <= s.day_at AND (r.until_at IS NULL OR r.until_at >= s.day_at + %10$d)
    WHERE s.day_at >= %4$d AND s.day_at < %5$d%6$s GROUP BY %7$sa.flavor, a.resource, r.since_at, r.price\
    """
        .formatted(
            columns(true),
            OF_DAY,
            labels(false),
            firstDay,
            lastDay,
            scope(),
            columns(false),
            of == Of.COSTS ? "s.reserved" : "s.compared",
            of == Of.COSTS ? "a.flavor" : "a.baseline",
            UsageSums.DAY);
  }

  private String branch(Of of, Rows rows) {
    return of == Of.USES ? uses(rows) : money(rows, of);
  }

  private static String end(Period period) {
    return "LEAST(COALESCE(p.to_at, %1$d), %1$d)".formatted(period.until());
  }

  private static String begin(Period period) {
    return "GREATEST(p.from_at, %d)".formatted(period.since());
  }

  private String where(Rows rows) {
    return "WHERE %s AND p.from_at < %d AND (p.to_at IS NULL OR p.to_at > %d)%s"
        .formatted(rows.where(), rows.period().until(), rows.period().since(), scope());
  }

  private String uses(Rows rows) {
    return """
    SELECT %1$sp.flavor AS flavor, p.resource AS resource,
      SUM(%2$s * GREATEST(0, %3$s - %4$s)) AS reserved,
      SUM(%2$s * CASE WHEN %5$s IS NULL THEN 0 ELSE GREATEST(0, %3$s - GREATEST(%4$s, %5$s)) END) AS run,
      SUM(%2$s * CASE WHEN %6$s IS NULL THEN 0 ELSE GREATEST(0, %3$s - GREATEST(%4$s, %6$s)) END) AS lost,
      COUNT(p.baseline) AS compared
    %7$s%8$s %9$s GROUP BY %10$sp.flavor, p.resource\
    """
        .formatted(
            columns(true),
            "CAST(p.amount AS NUMERIC(38))",
            end(rows.period()),
            begin(rows.period()),
            rows.readyAt(),
            rows.lostAt(),
            rows.from(),
            labels(rows.from().equals(OF_ATTEMPT)),
            where(rows),
            columns(false));
  }

  private String money(Rows rows, Of of) {
    Period period = rows.period();
    String end =
        of == Of.COSTS
            ? end(period)
            : "LEAST(%s, COALESCE(%s, %d))".formatted(end(period), rows.lostAt(), period.until());
    String used =
        "CAST(p.amount AS NUMERIC(38)) * %s * (LEAST(%s, COALESCE(r.until_at, %d)) - GREATEST(%s, r.since_at))"
            .formatted(
                of == Of.COSTS ? "1" : "p.baseline_pace", end, period.until(), begin(period));
    String cut =
        period.cut()
            ? " AND (r.since_at > %d OR r.until_at < %d)".formatted(period.since(), period.until())
            : "";
    return """
    SELECT %1$sp.flavor AS flavor, p.resource AS resource, r.price * SUM(%2$s) AS money,
      r.price * SUM(CASE WHEN p.baseline IS NULL THEN 0 ELSE %2$s END) AS compared
    %3$s%4$s JOIN sluice_price r ON r.flavor = %5$s AND r.resource = p.resource
      AND r.since_at < %6$s AND COALESCE(r.until_at, %7$d) > %8$s%9$s
    %10$s AND %6$s > %8$s GROUP BY %11$sp.flavor, p.resource, r.since_at, r.price\
    """
        .formatted(
            columns(true),
            used,
            rows.from(),
            labels(rows.from().equals(OF_ATTEMPT)),
            of == Of.COSTS ? "p.flavor" : "p.baseline",
            end,
            period.until(),
            begin(period),
            cut,
            where(rows),
            columns(false));
  }
}
