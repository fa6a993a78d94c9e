package dev.sluice.ledger;

import dev.sluice.api.config.GoDuration;
import dev.sluice.api.config.LedgerSettings;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.LabelSelector;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * What somebody wants to know of the ledger (docs/ledger.md#usage).
 *
 * @param groups what rows are told apart by, besides flavor and resource
 * @param spans the spans of time that are summed up, one after the other
 * @param scope whose attempts count
 */
public record UsageQuery(List<Group> groups, List<Span> spans, Scope scope) {

  /** The most rows of an answer. */
  public static final int MOST_ROWS = 10_000;

  /** The most characters of the groups, flavors and resources of an answer. */
  static final int MOST_TEXT = 4 << 20;

  /** The most spans of a query. */
  static final int MOST_SPANS = 1_000;

  private static final String LABEL = "label:";
  private static final String FLAVOR = "flavor";
  private static final String USER = "user";

  /** The groups that are columns. */
  private static final Map<String, String> COLUMNS =
      Map.of(
          "queue", "a.cluster_queue",
          "localqueue", "a.local_queue",
          "cohort", "a.cohort_path",
          "namespace", "a.namespace",
          "workload", "a.workload",
          "kind", "a.owner_kind",
          "owner", "a.owner_name",
          "outcome", "COALESCE(a.outcome, '')");

  /** The groups that no sums of attempts are told apart by. */
  private static final Set<String> OF_ATTEMPTS = Set.of("workload", "owner");

  private static final Map<String, ChronoUnit> UNITS =
      Map.of("hour", ChronoUnit.HOURS, "day", ChronoUnit.DAYS, "month", ChronoUnit.MONTHS);

  /** What is allowed in {@code by}. */
  public static final String ALLOWED =
      "some of queue, localqueue, cohort, namespace, workload, kind, owner, user, outcome,"
          + " flavor, label:KEY and one of hour, day, month; with commas between them";

  public UsageQuery {
    groups = List.copyOf(groups);
    spans = List.copyOf(spans);
  }

  /**
   * Whose attempts count.
   *
   * @param condition an SQL expression over an attempt {@code a}; empty for all
   * @param values of its parameters: texts, or lists of them
   */
  public record Scope(String condition, List<Object> values) {

    private static final Scope ALL = new Scope("", List.of());

    public Scope {
      values = List.copyOf(values);
    }

    /**
     * Those of some namespaces, which are one parameter: statements repeat the condition, and
     * databases limit the number of parameters.
     */
    public static Scope ofNamespaces(Collection<String> names) {
      return names.size() == 1
          ? new Scope("a.namespace = ?", List.copyOf(names))
          : new Scope("a.namespace = ANY(?)", List.of(List.copyOf(names)));
    }

    /**
     * Those that a Budget counts.
     *
     * @param namespaces the names of those namespaces that have such labels
     */
    public static Scope of(
        BudgetSpec.Scope scope, Function<LabelSelector, Collection<String>> namespaces) {
      return switch (scope) {
        case BudgetSpec.Scope.OfClusterQueue(var name) ->
            new Scope("a.cluster_queue = ?", List.of(name));
        case BudgetSpec.Scope.OfCohort(var name) ->
            new Scope("POSITION(? IN '/' || a.cohort_path || '/') > 0", List.of("/" + name + "/"));
        case BudgetSpec.Scope.OfLocalQueue(var id) ->
            new Scope("a.namespace = ? AND a.local_queue = ?", List.of(id.namespace(), id.name()));
        case BudgetSpec.Scope.OfNamespaces(var labels) -> ofNamespaces(namespaces.apply(labels));
      };
    }
  }

  /** The same of another scope. */
  public UsageQuery within(Scope other) {
    return new UsageQuery(groups, spans, other);
  }

  /**
   * What rows are told apart by.
   *
   * @param column the expression that has the value; empty for labels
   * @param label the key of the label
   */
  public record Group(String name, String column, Optional<String> label) {

    /** Whether an attempt has it, and no sum of them. */
    boolean ofAttempt() {
      return OF_ATTEMPTS.contains(name);
    }
  }

  /** A span of time, without its end. */
  public record Span(Instant since, Instant until) {}

  /**
   * A query.
   *
   * @param by the groups, with commas between them
   * @param namespace the only namespace; empty for all
   * @throws IllegalArgumentException if it isn't understood, or asks for too much; the message says
   *     what is allowed
   */
  public static UsageQuery of(String by, Instant since, Instant until, Optional<String> namespace) {
    if (!since.isBefore(until)) {
      throw new IllegalArgumentException("since: " + since + " is not before " + until);
    }
    List<Group> groups = new ArrayList<>();
    Optional<ChronoUnit> unit = Optional.empty();
    for (String name : by.isEmpty() ? new String[0] : by.split(",", -1)) {
      if (UNITS.containsKey(name) && unit.isEmpty()) {
        unit = Optional.ofNullable(UNITS.get(name));
      } else if (name.startsWith(LABEL) && name.length() > LABEL.length()) {
        groups.add(new Group(name, "", Optional.of(name.substring(LABEL.length()))));
      } else if (name.equals(USER)) {
        groups.add(new Group(name, "", Optional.of(LedgerSettings.USER_LABEL)));
      } else if (COLUMNS.containsKey(name)) {
        groups.add(new Group(name, COLUMNS.getOrDefault(name, ""), Optional.empty()));
      } else if (!name.equals(FLAVOR)) {
        throw new IllegalArgumentException(
            "by: \"" + name + "\" is not known; allowed: " + ALLOWED);
      }
    }
    if (groups.size() > 8 || groups.stream().distinct().count() < groups.size()) {
      throw new IllegalArgumentException("by: at most 8 groups, each once; allowed: " + ALLOWED);
    }
    return new UsageQuery(
        groups,
        unit.map(it -> spans(it, since, until)).orElseGet(() -> List.of(new Span(since, until))),
        namespace.map(name -> Scope.ofNamespaces(List.of(name))).orElse(Scope.ALL));
  }

  /**
   * A time as RFC 3339 has it, or how long ago: a duration, with days too, such as {@code 30d}.
   *
   * @throws IllegalArgumentException if it is neither; the message says what is allowed
   */
  public static Instant time(String text, Instant now) {
    try {
      if (text.matches("[0-9]{4}-.*")) {
        return OffsetDateTime.parse(text).toInstant();
      }
      Duration ago =
          text.matches("[0-9]{1,5}d")
              ? Duration.ofDays(Long.parseLong(text.substring(0, text.length() - 1)))
              : GoDuration.parse(text);
      if (ago.isNegative()) {
        throw new IllegalArgumentException("a negative duration");
      }
      return now.minus(ago);
    } catch (DateTimeException | IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "\"" + text + "\" is no time, such as 2026-01-31T08:00:00Z, 30d or 12h", e);
    }
  }

  private static List<Span> spans(ChronoUnit unit, Instant since, Instant until) {
    if (Duration.between(since, until).dividedBy(unit.getDuration()) >= MOST_SPANS) {
      throw new IllegalArgumentException(
          "by: at most " + MOST_SPANS + " spans; choose longer ones, or a later since");
    }
    List<Span> spans = new ArrayList<>();
    ZonedDateTime begin = since.atZone(ZoneOffset.UTC);
    ZonedDateTime whole =
        unit == ChronoUnit.MONTHS
            ? begin.truncatedTo(ChronoUnit.DAYS).withDayOfMonth(1)
            : begin.truncatedTo(unit);
    for (Instant from = since; from.isBefore(until); ) {
      whole = whole.plus(1, unit);
      Instant to = whole.toInstant().isBefore(until) ? whole.toInstant() : until;
      spans.add(new Span(from, to));
      from = to;
    }
    return spans;
  }
}
