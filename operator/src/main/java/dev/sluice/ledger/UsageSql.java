package dev.sluice.ledger;

import dev.sluice.ledger.UsageQuery.Group;
import dev.sluice.ledger.UsageQuery.Span;
import java.time.Instant;
import java.util.ArrayList;
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

  /** The amount of a row, as a number whose products have room. */
  private static final String AMOUNT = "CAST(p.amount AS NUMERIC(38))";

  /** Since when work was lost, or null. */
  private static final String LOST =
      "CASE WHEN a.outcome = 'Evicted' AND a.ready_at IS NOT NULL"
          + " THEN GREATEST(a.ready_at, COALESCE(a.checkpointed_at, 0)) END";

  /**
   * Amounts are found by their attempts, of which there is an index: in H2 by the range of their
   * ids, in PostgreSQL by an index of its own.
   */
  private static final String AMOUNTS =
      "sluice_attempt a JOIN sluice_attempt_amount p ON p.attempt_id = a.id AND p.id >= a.id * %1$d AND p.id < (a.id + 1) * %1$d"
          .formatted(1L << LedgerStore.PART_BITS);

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
    firstDay = -Math.floorDiv(-since, UsageSums.DAY) * UsageSums.DAY;
    lastDay = Math.max(firstDay, Math.floorDiv(until, UsageSums.DAY) * UsageSums.DAY);
  }

  /** A statement with the values of its parameters: texts, or lists of them. */
  record Statement(String text, List<Object> values) {}

  /** What a statement reads amounts for. */
  private enum Of {
    USES,
    COSTS,
    BASELINES
  }

  /**
   * Amounts of a time that are read as rows.
   *
   * @param where which attempts are read
   */
  private record Rows(String where, Period period) {}

  /**
   * A time of which rows are read.
   *
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
    List<Object> values = new ArrayList<>();
    List<String> branches = new ArrayList<>();
    Period whole = new Period(since, until, false);
    List<Rows> single = new ArrayList<>();
    for (String reach : List.of("IS NULL", "= " + UsageSums.REACHES.size())) {
      single.add(new Rows("a.reach " + reach, whole));
    }
    if (ofAttempts()) {
      single.addAll(rows(whole));
    } else {
      branches.add(groups(of, values));
    }
    for (Rows rows : single) {
      branches.add(attempts(of, rows));
      values.addAll(labelKeys());
      values.addAll(query.scope().values());
    }
    String names = names() + "flavor, resource";
    String text =
        "SELECT %s, %s FROM (%s) AS parts GROUP BY %s%s ORDER BY %s"
            .formatted(
                names,
                of == Of.USES
                    ? "SUM(reserved), SUM(run), SUM(lost), SUM(compared)"
                    : "SUM(money), SUM(compared)",
                String.join(" UNION ALL ", branches),
                names,
                of == Of.USES ? " HAVING SUM(reserved) <> 0" : "",
                names);
    return new Statement(text, List.copyOf(values));
  }

  private boolean ofAttempts() {
    return query.groups().stream().anyMatch(Group::ofAttempt);
  }

  /** Those rows of a period that are in sums, by their reach. */
  private static List<Rows> rows(Period period) {
    return IntStream.range(0, UsageSums.REACHES.size())
        .mapToObj(
            reach ->
                new Rows(
                    "a.reach = %d AND a.reserved_at > %d AND a.reserved_at < %d AND a.ended_at > %d"
                        .formatted(
                            reach,
                            period.since() - UsageSums.REACHES.get(reach),
                            period.until(),
                            period.since()),
                    period))
        .toList();
  }

  /**
   * What is in sums: added up by the groups of sums first, of which there are few, so that names
   * are looked up for those only.
   */
  private String groups(Of of, List<Object> values) {
    List<Long> changes =
        of == Of.USES ? List.of() : List.copyOf(priceChanges.subSet(firstDay, lastDay));
    List<Rows> rows = new ArrayList<>();
    List<String> branches = new ArrayList<>();
    if (firstDay < lastDay && changes.size() <= MOST_CHANGES) {
      branches.add(of == Of.USES ? usesOfDays() : moneyOfDays(of));
      List<Period> periods = new ArrayList<>();
      periods.add(new Period(since, firstDay, false));
      periods.add(new Period(lastDay, until, false));
      changes.forEach(day -> periods.add(new Period(day, day + UsageSums.DAY, true)));
      periods.stream().filter(each -> !each.isEmpty()).forEach(each -> rows.addAll(rows(each)));
    } else {
      rows.addAll(rows(new Period(since, until, false)));
    }
    for (Rows each : rows) {
      branches.add(
          of == Of.USES
              ? "SELECT p.group_id, %s FROM %s %s%s GROUP BY p.group_id"
                  .formatted(uses(each), AMOUNTS, where(each), scope("p.group_id"))
              : "SELECT p.group_id, %s FROM %s %s %s%s GROUP BY p.group_id, r.since_at, r.price"
                  .formatted(
                      money(each, of),
                      AMOUNTS,
                      prices(each, of),
                      where(each),
                      scope("p.group_id")));
    }
    branches.forEach(any -> values.addAll(query.scope().values()));
    values.addAll(labelKeys());
    String columns =
        of == Of.USES
            ? "SUM(t.reserved) AS reserved, SUM(t.run) AS run, SUM(t.lost) AS lost,"
                + " COUNT(a.baseline) AS compared"
            : "SUM(t.money) AS money,"
                + " SUM(CASE WHEN a.baseline IS NULL THEN 0 ELSE t.money END) AS compared";
    return "SELECT %sa.flavor AS flavor, a.resource AS resource, %s FROM (%s) AS t JOIN sluice_usage_group a ON a.id = t.group_id%s GROUP BY %sa.flavor, a.resource"
        .formatted(
            columns(true), columns, String.join(" UNION ALL ", branches), labels(), columns(false));
  }

  /** The condition that a group is one of those that are asked for. */
  private String scope(String id) {
    String condition = query.scope().condition();
    return condition.isEmpty()
        ? ""
        : " AND %s IN (SELECT a.id FROM sluice_usage_group a WHERE %s)".formatted(id, condition);
  }

  private String usesOfDays() {
    return "SELECT s.group_id, SUM(s.reserved) AS reserved, SUM(s.run) AS run, SUM(s.lost) AS lost FROM sluice_usage_day s WHERE s.day_at >= %d AND s.day_at < %d%s GROUP BY s.group_id"
        .formatted(firstDay, lastDay, scope("s.group_id"));
  }

  /** Days for all of which a price counts. */
  private String moneyOfDays(Of of) {
    return """
    SELECT s.group_id, r.price * SUM(s.%1$s) AS money
    FROM sluice_usage_day s JOIN sluice_usage_group b ON b.id = s.group_id
    JOIN sluice_price r ON r.flavor = b.%2$s AND r.resource = b.resource
      AND r.since_at <= s.day_at AND (r.until_at IS NULL OR r.until_at >= s.day_at + %3$d)
    WHERE s.day_at >= %4$d AND s.day_at < %5$d%6$s GROUP BY s.group_id, r.since_at, r.price\
    """
        .formatted(
            of == Of.COSTS ? "reserved" : "compared",
            of == Of.COSTS ? "flavor" : "baseline",
            UsageSums.DAY,
            firstDay,
            lastDay,
            scope("s.group_id"));
  }

  /** Rows that are told apart by what only attempts have, or are in no sum. */
  private String attempts(Of of, Rows rows) {
    String condition = query.scope().condition();
    return "SELECT %sp.flavor AS flavor, p.resource AS resource, %s FROM %s%s %s %s%s GROUP BY %sp.flavor, p.resource%s"
        .formatted(
            columns(true),
            of == Of.USES
                ? uses(rows) + ", COUNT(p.baseline) AS compared"
                : money(rows, of)
                    + ", r.price * SUM(CASE WHEN p.baseline IS NULL THEN 0 ELSE %s END) AS compared"
                        .formatted(priced(rows, of)),
            AMOUNTS,
            labels(),
            of == Of.USES ? "" : prices(rows, of),
            where(rows),
            condition.isEmpty() ? "" : " AND " + condition,
            columns(false),
            of == Of.USES ? "" : ", r.since_at, r.price");
  }

  private List<String> labelKeys() {
    return query.groups().stream().flatMap(group -> group.label().stream()).toList();
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

  /** The joins with the labels of what is named {@code a}. */
  private String labels() {
    return IntStream.range(0, query.groups().size())
        .filter(i -> query.groups().get(i).label().isPresent())
        .mapToObj(
            i ->
                " LEFT JOIN sluice_label l%1$d ON l%1$d.label_set = a.label_set AND l%1$d.label_key = ?"
                    .formatted(i))
        .collect(Collectors.joining());
  }

  private static String end(Rows rows) {
    return "LEAST(COALESCE(p.to_at, %1$d), %1$d)".formatted(rows.period().until());
  }

  private static String begin(Rows rows) {
    return "GREATEST(p.from_at, %d)".formatted(rows.period().since());
  }

  /** Rows whose time and the period have something in common. */
  private static String where(Rows rows) {
    String after = "p.to_at > " + rows.period().since();
    return "WHERE %s AND p.from_at < %d AND %s"
        .formatted(
            rows.where(),
            rows.period().until(),
            rows.where().contains("NULL") ? "(p.to_at IS NULL OR " + after + ")" : after);
  }

  private static String uses(Rows rows) {
    return """
    SUM(%1$s * GREATEST(0, %2$s - %3$s)) AS reserved,
      SUM(%1$s * CASE WHEN a.ready_at IS NULL THEN 0 ELSE GREATEST(0, %2$s - GREATEST(%3$s, a.ready_at)) END) AS run,
      SUM(%1$s * CASE WHEN %4$s IS NULL THEN 0 ELSE GREATEST(0, %2$s - GREATEST(%3$s, %4$s)) END) AS lost\
    """
        .formatted(AMOUNT, end(rows), begin(rows), LOST);
  }

  private static String money(Rows rows, Of of) {
    return "r.price * SUM(%s) AS money".formatted(priced(rows, of));
  }

  /** Amounts times the milliseconds for which a price {@code r} counts. */
  private static String priced(Rows rows, Of of) {
    return "%s * %s * (LEAST(%s, COALESCE(r.until_at, %d)) - GREATEST(%s, r.since_at))"
        .formatted(
            AMOUNT,
            of == Of.COSTS ? "1" : "p.baseline_pace",
            paidUntil(rows, of),
            rows.period().until(),
            begin(rows));
  }

  /** In the baseline, work that is lost is not paid for. */
  private static String paidUntil(Rows rows, Of of) {
    return of == Of.COSTS
        ? end(rows)
        : "LEAST(%s, COALESCE(%s, %d))".formatted(end(rows), LOST, rows.period().until());
  }

  /** The join with the prices that count within the time of an amount. */
  private static String prices(Rows rows, Of of) {
    Period period = rows.period();
    return """
    JOIN sluice_price r ON r.flavor = %1$s AND r.resource = p.resource AND %2$s > %3$s
      AND r.since_at < %2$s AND COALESCE(r.until_at, %4$d) > %3$s%5$s\
    """
        .formatted(
            of == Of.COSTS ? "p.flavor" : "p.baseline",
            paidUntil(rows, of),
            begin(rows),
            period.until(),
            period.cut()
                ? " AND (r.since_at > %d OR r.until_at < %d)"
                    .formatted(period.since(), period.until())
                : "");
  }
}
