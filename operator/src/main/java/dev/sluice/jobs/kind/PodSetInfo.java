package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a pod set gets when its job starts.
 *
 * @param name the pod set
 * @param count pods it was admitted with
 * @param labels for its pods
 * @param annotations for its pods
 * @param nodeSelector for its pods
 * @param tolerations for its pods, in the API's form
 * @param schedulingGates names of gates for its pods
 */
public record PodSetInfo(
    String name,
    int count,
    Map<String, String> labels,
    Map<String, String> annotations,
    Map<String, String> nodeSelector,
    List<ObjectNode> tolerations,
    List<String> schedulingGates) {

  /** The same with a further annotation. */
  public PodSetInfo withAnnotation(String key, String value) {
    Map<String, String> more = new LinkedHashMap<>(annotations);
    more.put(key, value);
    return new PodSetInfo(name, count, labels, more, nodeSelector, tolerations, schedulingGates);
  }

  /** The same without a gate. */
  public PodSetInfo withoutGate(String gate) {
    return new PodSetInfo(
        name,
        count,
        labels,
        annotations,
        nodeSelector,
        tolerations,
        schedulingGates.stream().filter(each -> !each.equals(gate)).toList());
  }
}
