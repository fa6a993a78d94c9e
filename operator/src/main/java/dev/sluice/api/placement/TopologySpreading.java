package dev.sluice.api.placement;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.TextLimits;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The annotation {@code kueue.x-k8s.io/podset-topology-spreading}: how groups of pods are spread
 * over domains (docs/topology.md#groups-spread-over-domains).
 *
 * @param selector the Workloads whose groups count; empty for those of the same job
 * @param rules the rules, one or two
 */
public record TopologySpreading(Optional<WorkloadSelector> selector, List<ShareLimit> rules) {

  /** The most rules. */
  private static final int MOST_RULES = 2;

  private static final String SELECTORS = "workloadLabelSelectors";
  private static final String RULES = "rules";
  private static final String LEVEL = "topologyKey";
  private static final String SHARE = "maxShareAllowingPlacement";
  private static final String MODE = "enforcementMode";
  private static final Pattern PERCENT = Pattern.compile("[1-9][0-9]?%");

  /** Workloads with one of some values of a label. */
  public record WorkloadSelector(String key, List<String> values) {
    public WorkloadSelector {
      values = List.copyOf(values);
    }
  }

  /**
   * A rule.
   *
   * @param topologyKey the label key of the level
   * @param maxShare the greatest share of a domain that takes another group, in percent
   * @param required whether other domains take none; otherwise they come last
   */
  public record ShareLimit(String topologyKey, int maxShare, boolean required) {}

  /**
   * What is wrong with a part of the annotation.
   *
   * @param field the field, such as {@code rules[0].topologyKey}; empty for the whole
   * @param value the value, in JSON unless it is a text
   * @param allowed what is allowed there
   */
  public record Fault(String field, String value, String allowed) {}

  public TopologySpreading {
    rules = List.copyOf(rules);
  }

  /** The spreading that a text asks for; empty if anything is wrong with it. */
  public static Optional<TopologySpreading> of(String text) {
    List<Fault> faults = new ArrayList<>();
    TopologySpreading read = read(text, faults);
    return faults.isEmpty() ? Optional.of(read) : Optional.empty();
  }

  /** What is wrong with a text; nothing if it may be used. */
  public static List<Fault> faults(String text) {
    List<Fault> faults = new ArrayList<>();
    read(text, faults);
    return faults;
  }

  private static TopologySpreading read(String text, List<Fault> faults) {
    JsonNode json = json(text, faults);
    if (!json.isObject()) {
      return new TopologySpreading(Optional.empty(), List.of());
    }
    nothingElse("", json, List.of(SELECTORS, RULES), faults);
    return new TopologySpreading(
        selector(JsonFields.at(json, SELECTORS), faults), rules(json, faults));
  }

  private static JsonNode json(String text, List<Fault> faults) {
    Optional<String> length = TextLimits.fault(text);
    if (length.isPresent()) {
      faults.add(new Fault("", text, length.get()));
      return JsonMappers.JSON.missingNode();
    }
    JsonNode json;
    try {
      json = JsonMappers.JSON.readTree(text);
    } catch (JsonProcessingException notJson) {
      json = JsonMappers.JSON.missingNode();
    }
    if (!json.isObject()) {
      faults.add(new Fault("", text, "must be a JSON object {" + SELECTORS + ", " + RULES + "}"));
    }
    return json;
  }

  private static void nothingElse(
      String path, JsonNode object, List<String> known, List<Fault> faults) {
    for (var field : object.properties()) {
      if (!known.contains(field.getKey())) {
        faults.add(
            new Fault(
                path, field.getKey(), "unknown field, must be one of " + String.join(", ", known)));
      }
    }
  }

  private static Optional<WorkloadSelector> selector(JsonNode selectors, List<Fault> faults) {
    if (selectors.isMissingNode() || (selectors.isArray() && selectors.isEmpty())) {
      return Optional.empty();
    }
    if (!selectors.isArray() || selectors.size() > 1 || !selectors.get(0).isObject()) {
      faults.add(
          new Fault(
              SELECTORS,
              selectors.toString(),
              "must be an array of at most 1 object {key, operator, values}"));
      return Optional.empty();
    }
    String path = SELECTORS + "[0]";
    JsonNode selector = selectors.get(0);
    nothingElse(path, selector, List.of("key", "operator", "values"), faults);
    String key = JsonFields.text(selector, "key");
    if (!KubernetesNames.isLabelKey(key)) {
      faults.add(fault(path, selector, "key", "must be " + KubernetesNames.LABEL_KEY_RULE));
    }
    if (!JsonFields.text(selector, "operator").equals("In")) {
      faults.add(fault(path, selector, "operator", "must be In"));
    }
    JsonNode values = JsonFields.at(selector, "values");
    List<String> texts = new ArrayList<>();
    values.forEach(
        value -> texts.add(value.isTextual() ? value.textValue() : "not a text: " + value));
    if (!values.isArray()
        || texts.isEmpty()
        || !texts.stream().allMatch(KubernetesNames::isLabelValue)) {
      faults.add(
          fault(
              path,
              selector,
              "values",
              "must be an array of at least 1 text, each " + KubernetesNames.LABEL_VALUE_RULE));
    }
    return Optional.of(new WorkloadSelector(key, texts));
  }

  private static Fault fault(String path, JsonNode object, String field, String allowed) {
    JsonNode value = JsonFields.at(object, field);
    return new Fault(
        path + "." + field, value.isValueNode() ? value.asText() : value.toString(), allowed);
  }

  private static List<ShareLimit> rules(JsonNode json, List<Fault> faults) {
    JsonNode rules = JsonFields.at(json, RULES);
    if (!rules.isArray() || rules.isEmpty() || rules.size() > MOST_RULES) {
      faults.add(
          new Fault(
              RULES,
              rules.isMissingNode() ? "" : rules.toString(),
              "must be an array of 1 to "
                  + MOST_RULES
                  + " objects {topologyKey, maxShareAllowingPlacement, enforcementMode}"));
      return List.of();
    }
    List<ShareLimit> read = new ArrayList<>();
    Set<String> levels = new HashSet<>();
    for (int i = 0; i < rules.size(); i++) {
      ShareLimit limit = limit(RULES + "[" + i + "]", rules.get(i), faults);
      if (!levels.add(limit.topologyKey())) {
        faults.add(
            fault(RULES + "[" + i + "]", rules.get(i), LEVEL, "must be another one in each rule"));
      }
      read.add(limit);
    }
    return read;
  }

  private static ShareLimit limit(String path, JsonNode rule, List<Fault> faults) {
    nothingElse(path, rule, List.of(LEVEL, SHARE, MODE), faults);
    String level = JsonFields.text(rule, LEVEL);
    if (!KubernetesNames.isLabelKey(level)) {
      faults.add(fault(path, rule, LEVEL, "must be " + KubernetesNames.LABEL_KEY_RULE));
    }
    String share = JsonFields.text(rule, SHARE);
    boolean percent = PERCENT.matcher(share).matches();
    if (!percent) {
      faults.add(fault(path, rule, SHARE, "must be a text from \"1%\" to \"99%\""));
    }
    String mode = JsonFields.text(rule, MODE);
    if (JsonFields.isPresent(rule, MODE) && !Set.of("Required", "Preferred").contains(mode)) {
      faults.add(fault(path, rule, MODE, "must be Required or Preferred"));
    }
    return new ShareLimit(
        level,
        percent ? Integer.parseInt(share.substring(0, share.length() - 1)) : 0,
        !mode.equals("Preferred"));
  }
}
