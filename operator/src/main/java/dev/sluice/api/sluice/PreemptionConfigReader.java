package dev.sluice.api.sluice;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.sluice.BudgetReader.SelectorFields;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.CandidatePriority;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.CandidateSelector;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.ClassNames;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Comparison;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.NumericLabel;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.PreemptionRule;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Scope;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Trigger;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;

/**
 * Reads the spec of a PreemptionConfig, whoever wrote it, and says what is wrong with it
 * (docs/preemption-config.md). Never throws; the time is linear in the length of the spec.
 */
public final class PreemptionConfigReader {

  /** The name of the resource. */
  public static final String PLURAL = "preemptionconfigs";

  /** The annotation of a ClusterQueue that names its PreemptionConfig. */
  public static final String ANNOTATION = "kueue.x-k8s.io/preemption-config-name";

  private static final int MOST_RULES = 64;
  private static final int MOST_ITEMS = 32;
  private static final int MOST_REQUIREMENTS = 64;
  private static final int MOST_CHARACTERS = 317;

  private static final Map<String, Trigger> TRIGGERS =
      Map.of(
          "Always", Trigger.ALWAYS,
          "InsufficientQuota", Trigger.INSUFFICIENT_QUOTA,
          "QuotaFeasibleAndInsufficientTopology", Trigger.QUOTA_FEASIBLE_AND_INSUFFICIENT_TOPOLOGY);

  private static final Map<String, Scope> SCOPES =
      Map.of(
          "WithinLocalQueue", Scope.WITHIN_LOCAL_QUEUE,
          "WithinClusterQueue", Scope.WITHIN_CLUSTER_QUEUE,
          "WithinParentCohort", Scope.WITHIN_PARENT_COHORT,
          "WithinCohortTree", Scope.WITHIN_COHORT_TREE,
          "AnyClusterQueue", Scope.ANY_CLUSTER_QUEUE);

  private static final Map<String, Comparison> COMPARISONS =
      Map.of(
          "LessThan", Comparison.LESS_THAN,
          "GreaterThan", Comparison.GREATER_THAN,
          "LessThanOrEqual", Comparison.LESS_THAN_OR_EQUAL,
          "GreaterThanOrEqual", Comparison.GREATER_THAN_OR_EQUAL);

  private static final Map<String, Boolean> MODES = Map.of("Base", false, "Boosted", true);

  /**
   * A spec that was read.
   *
   * @param config its rules; none if anything is wrong
   * @param labels the labels of Workloads that the rules ask for
   * @param faults what is wrong
   */
  public record Reading(PreemptionConfig config, Set<String> labels, List<SpecFault> faults) {

    public Reading {
      labels = Set.copyOf(labels);
      faults = List.copyOf(faults);
    }
  }

  private final Function<LabelSelector, Set<String>> clusterQueues;
  private final List<SpecFault> faults = new ArrayList<>();
  private final Set<String> labels = new HashSet<>();

  private PreemptionConfigReader(Function<LabelSelector, Set<String>> clusterQueues) {
    this.clusterQueues = clusterQueues;
  }

  /**
   * Reads an object.
   *
   * @param clusterQueues the names of the ClusterQueues that a selector selects
   */
  public static Reading read(JsonNode spec, Function<LabelSelector, Set<String>> clusterQueues) {
    return new PreemptionConfigReader(clusterQueues).of(spec);
  }

  private Reading of(JsonNode spec) {
    List<PreemptionRule> rules = new ArrayList<>();
    List<JsonNode> items = items(spec, "rules", "spec.rules", MOST_RULES);
    for (int i = 0; i < items.size(); i++) {
      rules.add(rule(items.get(i), "spec.rules[" + i + "]"));
    }
    return new Reading(new PreemptionConfig(faults.isEmpty() ? rules : List.of()), labels, faults);
  }

  private PreemptionRule rule(JsonNode rule, String path) {
    List<CandidateSelector> candidates = new ArrayList<>();
    String at = path + ".candidateSelectors";
    List<JsonNode> items = items(rule, "candidateSelectors", at, MOST_ITEMS);
    for (int i = 0; i < items.size(); i++) {
      candidates.add(candidates(items.get(i), at + "[" + i + "]"));
    }
    LabelSelector preemptor =
        ofWorkloads(rule.path("preemptorSelector"), path + ".preemptorSelector");
    return new PreemptionRule(
        preemptor,
        classes(
            rule.path("preemptorPriorityClassSelector"), path + ".preemptorPriorityClassSelector"),
        word(
                JsonFields.at(rule, "activationPolicy", "trigger"),
                path + ".activationPolicy.trigger",
                TRIGGERS,
                Optional.of(Trigger.ALWAYS))
            .orElse(Trigger.ALWAYS),
        candidates);
  }

  private CandidateSelector candidates(JsonNode selector, String path) {
    List<NumericLabel> numbers = new ArrayList<>();
    List<JsonNode> items = items(selector, "numericLabels", path + ".numericLabels", MOST_ITEMS);
    for (int i = 0; i < items.size(); i++) {
      numbers.add(number(items.get(i), path + ".numericLabels[" + i + "]"));
    }
    JsonNode queues = selector.path("clusterQueueSelector");
    return new CandidateSelector(
        word(selector.path("scope"), path + ".scope", SCOPES, Optional.empty())
            .orElse(Scope.WITHIN_LOCAL_QUEUE),
        queues.isObject()
            ? Optional.of(clusterQueues.apply(selector(queues, path + ".clusterQueueSelector")))
            : Optional.empty(),
        ofWorkloads(selector.path("labelSelector"), path + ".labelSelector"),
        numbers,
        priority(selector.path("priority"), path + ".priority"));
  }

  private NumericLabel number(JsonNode label, String path) {
    String key = JsonFields.text(label, "key");
    if (key.isEmpty() || key.length() > MOST_CHARACTERS) {
      fault(path + ".key", key, "must be the name of a label");
    }
    labels.add(key);
    OptionalLong least = whole(label, path, "minValue");
    OptionalLong most = whole(label, path, "maxValue");
    if (least.isPresent() && most.isPresent() && least.getAsLong() > most.getAsLong()) {
      fault(path + ".minValue", "" + least.getAsLong(), "must be at most maxValue");
    }
    return new NumericLabel(
        key, whole(label, path, "fallbackValue"), comparison(label, path), least, most);
  }

  private Optional<CandidatePriority> priority(JsonNode priority, String path) {
    return priority.isObject()
        ? Optional.of(
            new CandidatePriority(
                word(priority.path("mode"), path + ".mode", MODES, Optional.of(true)).orElse(true),
                comparison(priority, path),
                classes(priority, path)))
        : Optional.empty();
  }

  private Optional<Comparison> comparison(JsonNode object, String path) {
    JsonNode comparison = object.path("comparison");
    return comparison.isMissingNode() || comparison.isNull()
        ? Optional.empty()
        : word(comparison, path + ".comparison", COMPARISONS, Optional.empty());
  }

  private ClassNames classes(JsonNode selector, String path) {
    return new ClassNames(
        names(selector, path, "matchNames"), names(selector, path, "notMatchNames"));
  }

  private Set<String> names(JsonNode selector, String path, String field) {
    Set<String> names = new HashSet<>();
    for (JsonNode name : items(selector, field, path + "." + field, MOST_ITEMS)) {
      if (!name.isTextual() || name.asText().length() > MOST_CHARACTERS) {
        fault(path + "." + field, name.toString(), "must be names of priority classes");
      }
      names.add(name.asText());
    }
    return names;
  }

  /** A selector of Workloads, whose labels are asked for; an absent one selects all. */
  private LabelSelector ofWorkloads(JsonNode selector, String path) {
    LabelSelector.Requirements read = selector(selector, path);
    read.requirements().forEach(requirement -> labels.add(requirement.key()));
    return read;
  }

  private LabelSelector.Requirements selector(JsonNode selector, String path) {
    List<LabelRequirement> requirements = new ArrayList<>(SelectorFields.matchLabels(selector));
    List<JsonNode> expressions = JsonFields.list(selector, "matchExpressions");
    for (int i = 0; i < Math.min(expressions.size(), MOST_REQUIREMENTS); i++) {
      JsonNode expression = expressions.get(i);
      String at = path + ".matchExpressions[" + i + "]";
      List<String> values = JsonFields.texts(expression, "values");
      Optional<LabelRequirement.Operator> operator =
          word(
              expression.path("operator"),
              at + ".operator",
              SelectorFields.OPERATORS,
              Optional.empty());
      boolean needsValues =
          operator
              .filter(
                  it ->
                      it == LabelRequirement.Operator.IN || it == LabelRequirement.Operator.NOT_IN)
              .isPresent();
      if (operator.isPresent() && needsValues == values.isEmpty()) {
        fault(
            at + ".values",
            values.toString(),
            needsValues
                ? "must have an item with In and NotIn"
                : "must have no item with Exists and DoesNotExist");
      }
      operator.ifPresent(
          it ->
              requirements.add(
                  new LabelRequirement(JsonFields.text(expression, "key"), it, values)));
    }
    if (requirements.size() > MOST_REQUIREMENTS || expressions.size() > MOST_REQUIREMENTS) {
      fault(path, "too many requirements", "must have at most " + MOST_REQUIREMENTS);
      return new LabelSelector.Requirements(List.of());
    }
    return new LabelSelector.Requirements(requirements);
  }

  private OptionalLong whole(JsonNode object, String path, String field) {
    JsonNode number = object.path(field);
    if (number.isMissingNode() || number.isNull()) {
      return OptionalLong.empty();
    }
    if (!number.isIntegralNumber() || !number.canConvertToLong()) {
      fault(path + "." + field, number.toString(), "must be a whole number of 64 bits");
      return OptionalLong.empty();
    }
    return OptionalLong.of(number.asLong());
  }

  private <T> Optional<T> word(
      JsonNode word, String path, Map<String, T> known, Optional<T> absent) {
    if ((word.isMissingNode() || word.isNull()) && absent.isPresent()) {
      return absent;
    }
    Optional<T> read = Optional.ofNullable(known.get(word.asText()));
    if (read.isEmpty()) {
      fault(
          path,
          word.isMissingNode() ? "" : word.asText(),
          "must be one of " + String.join(", ", known.keySet().stream().sorted().toList()));
    }
    return read;
  }

  private List<JsonNode> items(JsonNode object, String field, String path, int most) {
    List<JsonNode> items = JsonFields.list(object, field);
    if (items.size() > most) {
      fault(path, items.size() + " items", "must have at most " + most);
      return List.of();
    }
    return items;
  }

  private void fault(String path, String value, String rule) {
    faults.add(new SpecFault(path, value, rule));
  }
}
