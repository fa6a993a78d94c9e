package dev.sluice.queues.mapping;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which Workloads of a ClusterQueue need which of its admission checks, where its annotation
 * narrows that. What can't be read narrows nothing: a check is rather asked once too often.
 */
public final class CheckSelectors {

  private static final CheckSelectors NONE = new CheckSelectors(Map.of());

  private final Map<String, LabelSelector> byCheck;

  private CheckSelectors(Map<String, LabelSelector> byCheck) {
    this.byCheck = byCheck;
  }

  /** The selectors that the annotations of a ClusterQueue say. */
  public static CheckSelectors of(@Nullable Map<String, String> annotations) {
    String text = annotations == null ? null : annotations.get(QueueAnnotations.CHECK_SELECTORS);
    if (text == null) {
      return NONE;
    }
    Map<String, LabelSelector> selectors = new HashMap<>();
    try {
      for (Map.Entry<String, JsonNode> each : JsonMappers.JSON.readTree(text).properties()) {
        if (each.getValue().isObject()) {
          MappingResult<LabelSelector> selector =
              LabelSelectorMapper.translate(
                  JsonMappers.JSON.treeToValue(
                      each.getValue(), io.fabric8.kubernetes.api.model.LabelSelector.class),
                  "labelSelector");
          if (selector.faults().isEmpty()) {
            selectors.put(each.getKey(), selector.value());
          }
        }
      }
    } catch (JsonProcessingException unreadable) {
      return NONE;
    }
    return new CheckSelectors(selectors);
  }

  /** The labels that the selectors look at. */
  public Set<String> keys() {
    return byCheck.values().stream()
        .flatMap(
            selector ->
                selector instanceof LabelSelector.Requirements some
                    ? some.requirements().stream()
                    : Stream.empty())
        .map(LabelRequirement::key)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Whether only some Workloads need a check of the ClusterQueue. */
  boolean narrows(String check) {
    return byCheck.containsKey(check);
  }

  /** Whether a Workload with these labels needs a check of the ClusterQueue. */
  boolean select(String check, Map<String, String> labels) {
    LabelSelector selector = byCheck.get(check);
    return selector == null || selector.matches(labels);
  }
}
