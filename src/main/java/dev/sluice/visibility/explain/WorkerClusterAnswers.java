package dev.sluice.visibility.explain;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Answers of the worker clusters for a pending Workload, from the message of its MultiKueue check.
 *
 * @param message message of the check; empty if there are no answers
 * @param lines one line per cluster
 */
record WorkerClusterAnswers(String message, List<String> lines) {

  private static final WorkerClusterAnswers NONE = new WorkerClusterAnswers("", List.of());

  /** Reads the answers from the Workload's checks; empty if the clusters' names cannot be read. */
  static WorkerClusterAnswers of(GenericKubernetesResource workload, QueueObjectReader objects) {
    for (Map<?, ?> check : JsonPaths.maps(workload.get("status", "admissionChecks"))) {
      String message = JsonPaths.string(check.get("message"), "");
      if (JsonPaths.string(check.get("state"), "Pending").equals("Pending")
          && message.contains(": ")) {
        List<String> lines = lines(message, names(objects));
        if (!lines.isEmpty()) {
          return new WorkerClusterAnswers(message, lines);
        }
      }
    }
    return NONE;
  }

  private static List<String> names(QueueObjectReader objects) {
    return objects
        .permitted("MultiKueueClusters can't be read", () -> objects.list("multikueueclusters"))
        .orElse(List.of())
        .stream()
        .map(it -> it.getMetadata().getName())
        .toList();
  }

  /** The answers in a message; each starts with one of these cluster names. */
  static List<String> lines(String message, List<String> names) {
    if (names.isEmpty()) {
      return List.of();
    }
    String any = names.stream().map(Pattern::quote).collect(Collectors.joining("|"));
    Matcher starts = Pattern.compile("(?:^|; )(?=(?:" + any + "): )").matcher(message);
    List<String> lines = new ArrayList<>();
    int from = -1;
    while (starts.find()) {
      if (from >= 0) {
        lines.add("  worker cluster " + message.substring(from, starts.start()));
      }
      from = starts.end();
    }
    if (from >= 0) {
      lines.add("  worker cluster " + message.substring(from));
    }
    return lines;
  }
}
