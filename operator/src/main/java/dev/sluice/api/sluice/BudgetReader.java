package dev.sluice.api.sluice;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.config.GoDuration;
import dev.sluice.api.json.JsonFields;
import dev.sluice.core.budget.Budgets.Hours;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.BudgetSpec.Limit;
import dev.sluice.core.model.BudgetSpec.Period;
import dev.sluice.core.model.BudgetSpec.Scope;
import dev.sluice.core.model.BudgetSpec.Unit;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.LocalQueueId;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads the spec of a Budget, whoever wrote it, and says what is wrong with it (docs/budgets.md).
 * Never throws; the time is linear in the length of the spec.
 */
public final class BudgetReader {

  /** The most limits of a budget. */
  public static final int MOST_LIMITS = 8;

  private static final int MOST_FLAVORS = 64;
  private static final int MOST_NAMES = 253;
  private static final int MOST_CHARACTERS = 64;
  private static final int MOST_REQUIREMENTS = 64;
  private static final BigDecimal MOST_HOURS = BigDecimal.valueOf(Long.MAX_VALUE);
  private static final Duration SHORTEST = Duration.ofHours(1);
  private static final Duration LONGEST = Duration.ofHours(8_784);
  private static final Map<String, Unit> UNITS =
      Map.of(
          "Hourly", Unit.HOURLY,
          "Daily", Unit.DAILY,
          "Weekly", Unit.WEEKLY,
          "Monthly", Unit.MONTHLY,
          "Quarterly", Unit.QUARTERLY,
          "Yearly", Unit.YEARLY);

  private final JsonNode spec;
  private final List<SpecFault> faults = new ArrayList<>();

  private BudgetReader(JsonNode spec) {
    this.spec = spec;
  }

  /**
   * A spec that was read.
   *
   * @param budget what it says; empty if anything is wrong
   * @param drains whether Workloads are evicted once a limit is spent
   * @param notifyAt the fractions of a limit at which somebody is told, ascending
   * @param faults what is wrong
   */
  public record Reading(
      Optional<BudgetSpec> budget,
      boolean drains,
      List<BigDecimal> notifyAt,
      List<SpecFault> faults) {

    public Reading {
      notifyAt = List.copyOf(notifyAt);
      faults = List.copyOf(faults);
    }
  }

  /** Reads the spec of the budget with this name. */
  public static Reading read(String name, JsonNode spec) {
    return new BudgetReader(spec).read(name);
  }

  private Reading read(String name) {
    Optional<Scope> scope = scope();
    List<Limit> limits = limits();
    Optional<Period> period = period();
    JsonNode carry = JsonFields.at(spec, "carryOver", "upTo");
    BigDecimal carryOver =
        carry.isMissingNode() || carry.isNull()
            ? BigDecimal.ZERO
            : fraction("spec.carryOver.upTo", carry).orElse(BigDecimal.ZERO);
    String action = choice("action", "Hold", Set.of("Warn", "Hold", "HoldAndDrain"));
    String charge = choice("charge", "Reserved", Set.of("AsUsed", "Reserved"));
    List<BigDecimal> notify = new ArrayList<>();
    List<JsonNode> fractions = JsonFields.list(spec, "notify");
    if (fractions.size() > MOST_LIMITS) {
      fault("spec.notify", fractions.size() + " items", "must have at most " + MOST_LIMITS);
    } else {
      for (int i = 0; i < fractions.size(); i++) {
        fraction("spec.notify[" + i + "]", fractions.get(i)).ifPresent(notify::add);
      }
    }
    if (period.flatMap(Period::rolling).isPresent() && carryOver.signum() > 0) {
      fault("spec.carryOver", carry.asText(), "is not allowed with a rolling window");
    }
    Optional<BudgetSpec> budget =
        faults.isEmpty() && scope.isPresent() && period.isPresent()
            ? Optional.of(
                new BudgetSpec(
                    name,
                    scope.get(),
                    limits,
                    period.get(),
                    carryOver,
                    !action.equals("Warn"),
                    charge.equals("Reserved")))
            : Optional.empty();
    return new Reading(
        budget, action.equals("HoldAndDrain"), notify.stream().sorted().toList(), faults);
  }

  private void fault(String path, String value, String rule) {
    faults.add(new SpecFault(path, value, rule));
  }

  private Optional<Scope> scope() {
    JsonNode scope = JsonFields.at(spec, "scope");
    List<String> given = new ArrayList<>();
    for (String each : List.of("clusterQueue", "cohort", "localQueue", "namespaceSelector")) {
      if (JsonFields.isPresent(scope, each)) {
        given.add(each);
      }
    }
    if (given.size() != 1) {
      fault(
          "spec.scope",
          String.join(", ", given),
          "must have exactly one of clusterQueue, cohort, localQueue, namespaceSelector");
      return Optional.empty();
    }
    return switch (given.getFirst()) {
      case "clusterQueue" -> name(scope, "clusterQueue").map(Scope.OfClusterQueue::new);
      case "cohort" -> name(scope, "cohort").map(Scope.OfCohort::new);
      case "localQueue" -> {
        JsonNode queue = scope.path("localQueue");
        Optional<String> namespace = name(queue, "namespace");
        yield name(queue, "name")
            .flatMap(
                found ->
                    namespace.map(where -> new Scope.OfLocalQueue(new LocalQueueId(where, found))));
      }
      default -> selector(scope.path("namespaceSelector")).map(Scope.OfNamespaces::new);
    };
  }

  private Optional<String> name(JsonNode parent, String field) {
    JsonNode value = parent.path(field);
    if (value.isTextual() && !value.asText().isEmpty() && value.asText().length() <= MOST_NAMES) {
      return Optional.of(value.asText());
    }
    fault("spec.scope." + field, value.asText(), "must be a name of at most 253 characters");
    return Optional.empty();
  }

  private Optional<LabelSelector> selector(JsonNode selector) {
    List<LabelRequirement> requirements = new ArrayList<>(SelectorFields.matchLabels(selector));
    List<JsonNode> expressions = JsonFields.list(selector, "matchExpressions");
    for (int i = 0; i < expressions.size(); i++) {
      JsonNode expression = expressions.get(i);
      String operator = JsonFields.text(expression, "operator");
      LabelRequirement.Operator known = SelectorFields.OPERATORS.get(operator);
      if (known == null) {
        fault(
            "spec.scope.namespaceSelector.matchExpressions[" + i + "].operator",
            operator,
            "must be In, NotIn, Exists or DoesNotExist");
        return Optional.empty();
      }
      requirements.add(
          new LabelRequirement(
              JsonFields.text(expression, "key"), known, JsonFields.texts(expression, "values")));
    }
    if (requirements.size() > MOST_REQUIREMENTS) {
      fault(
          "spec.scope.namespaceSelector",
          requirements.size() + " requirements",
          "must have at most " + MOST_REQUIREMENTS);
      return Optional.empty();
    }
    return Optional.of(new LabelSelector.Requirements(requirements));
  }

  private List<Limit> limits() {
    List<JsonNode> items = JsonFields.list(spec, "limits");
    if (items.isEmpty() || items.size() > MOST_LIMITS) {
      fault("spec.limits", items.size() + " items", "must have 1 to " + MOST_LIMITS);
      return List.of();
    }
    List<Limit> limits = new ArrayList<>();
    Set<String> keys = new HashSet<>();
    for (int i = 0; i < items.size(); i++) {
      String path = "spec.limits[" + i + "]";
      boolean money = JsonFields.isPresent(items.get(i), "cost");
      String resource = money ? Limit.COST : JsonFields.text(items.get(i), "resource");
      if (money
          && (JsonFields.isPresent(items.get(i), "resource")
              || JsonFields.isPresent(items.get(i), "hours"))) {
        fault(path, "cost", "must have either cost, or resource and hours");
        continue;
      }
      if (resource.isEmpty()
          || resource.length() > MOST_NAMES
          || (!money && resource.equals(Limit.COST))) {
        fault(path + ".resource", resource, "must be the name of a resource");
        continue;
      }
      List<String> flavors = JsonFields.texts(items.get(i), "flavors");
      if (flavors.size() > MOST_FLAVORS) {
        fault(path + ".flavors", flavors.size() + " items", "must have at most " + MOST_FLAVORS);
        continue;
      }
      String field = money ? "cost" : "hours";
      Optional<BigDecimal> hours = hours(path + "." + field, items.get(i).path(field));
      if (hours.isPresent()) {
        Limit limit = new Limit(resource, new HashSet<>(flavors), Hours.of(resource, hours.get()));
        if (!keys.add(limit.key())) {
          fault(path, limit.key(), "must differ from other limits in resource or flavors");
        }
        limits.add(limit);
      }
    }
    return limits;
  }

  private Optional<BigDecimal> hours(String path, JsonNode value) {
    Optional<BigDecimal> hours = quantity(value);
    if (hours.filter(each -> each.signum() >= 0 && each.compareTo(MOST_HOURS) <= 0).isEmpty()) {
      fault(path, value.asText(), "must be a quantity from 0 to 9223372036854775807, such as 500");
      return Optional.empty();
    }
    return hours;
  }

  private Optional<BigDecimal> fraction(String path, JsonNode value) {
    Optional<BigDecimal> fraction = quantity(value);
    if (fraction
        .filter(each -> each.signum() >= 0 && each.compareTo(BigDecimal.ONE) <= 0)
        .isEmpty()) {
      fault(path, value.asText(), "must be a quantity from 0 to 1, such as 0.8");
      return Optional.empty();
    }
    return fraction;
  }

  private static Optional<BigDecimal> quantity(JsonNode value) {
    String text = value.isValueNode() ? value.asText() : "";
    if (text.isEmpty() || text.length() > MOST_CHARACTERS) {
      return Optional.empty();
    }
    try {
      return Optional.of(Quantities.parse(text));
    } catch (IllegalArgumentException notAQuantity) {
      return Optional.empty();
    }
  }

  private String choice(String field, String usual, Set<String> allowed) {
    String value = JsonFields.text(spec, field);
    if (value.isEmpty()) {
      return usual;
    }
    if (!allowed.contains(value)) {
      fault(
          "spec." + field,
          value,
          "must be one of " + String.join(", ", allowed.stream().sorted().toList()));
    }
    return value;
  }

  private Optional<Period> period() {
    String zone = JsonFields.text(spec, "timeZone");
    String unit = JsonFields.text(spec, "period");
    String rolling = JsonFields.text(spec, "rolling");
    if (!rolling.isEmpty()) {
      if (!unit.isEmpty()) {
        fault("spec.rolling", rolling, "is not allowed together with a period");
        return Optional.empty();
      }
      Optional<Duration> window = window(rolling);
      if (window.isEmpty()) {
        fault("spec.rolling", rolling, "must be a duration from 1h to 8784h, such as 168h");
      }
      return window.map(length -> new Period(Unit.DAILY, "UTC", window));
    }
    if (!unit.isEmpty() && !UNITS.containsKey(unit)) {
      fault(
          "spec.period",
          unit,
          "must be one of " + String.join(", ", UNITS.keySet().stream().sorted().toList()));
      return Optional.empty();
    }
    String named = zone.isEmpty() ? "UTC" : zone;
    if (zone(named).isEmpty()) {
      fault("spec.timeZone", zone, "must be a time zone of the IANA database, such as UTC");
      return Optional.empty();
    }
    return Optional.of(
        new Period(
            UNITS.getOrDefault(unit, Unit.MONTHLY),
            named.toLowerCase(Locale.ROOT).equals("utc") ? "UTC" : named,
            Optional.empty()));
  }

  private static Optional<Duration> window(String text) {
    if (text.length() > MOST_CHARACTERS) {
      return Optional.empty();
    }
    try {
      return Optional.of(GoDuration.parse(text))
          .filter(each -> each.compareTo(SHORTEST) >= 0 && each.compareTo(LONGEST) <= 0);
    } catch (IllegalArgumentException notADuration) {
      return Optional.empty();
    }
  }

  /** The time zone with a name of the IANA database; empty if there is none. */
  static Optional<ZoneId> zone(String name) {
    if (name.length() > MOST_CHARACTERS) {
      return Optional.empty();
    }
    try {
      return Optional.of(ZoneId.of(name));
    } catch (DateTimeException unknown) {
      return Optional.empty();
    }
  }

  /** What label selectors consist of, wherever a spec has one. */
  static final class SelectorFields {

    /** The operators of expressions, by the words for them. */
    static final Map<String, LabelRequirement.Operator> OPERATORS =
        Map.of(
            "In", LabelRequirement.Operator.IN,
            "NotIn", LabelRequirement.Operator.NOT_IN,
            "Exists", LabelRequirement.Operator.EXISTS,
            "DoesNotExist", LabelRequirement.Operator.DOES_NOT_EXIST);

    private SelectorFields() {}

    /** What {@code matchLabels} of a selector requires. */
    static List<LabelRequirement> matchLabels(JsonNode selector) {
      return JsonFields.map(selector, "matchLabels").entrySet().stream()
          .map(
              label ->
                  new LabelRequirement(
                      label.getKey(), LabelRequirement.Operator.IN, List.of(label.getValue())))
          .toList();
    }
  }
}
