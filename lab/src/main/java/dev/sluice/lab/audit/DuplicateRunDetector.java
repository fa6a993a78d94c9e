package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Follows the pods of several clusters and records each time that a Job has running pods in more
 * than one cluster. A pod counts as running from its creation until it has ended or was removed,
 * also while it is being deleted. Thread-safe.
 */
public final class DuplicateRunDetector {

  private static final String JOB_NAME = "batch.kubernetes.io/job-name";

  /** Running pods, by Job and cluster. */
  private final Map<String, TreeMap<String, TreeSet<String>>> running = new HashMap<>();

  private final List<String> violations = new ArrayList<>();

  /** Processes a change in a cluster. */
  public synchronized void seen(String cluster, ObjectChange objectChange) {
    if (objectChange.kind() != AuditedKind.POD) {
      return;
    }
    JsonNode metadata = objectChange.object().path("metadata");
    String job = metadata.path("labels").path(JOB_NAME).asText();
    if (job.isEmpty()) {
      return;
    }
    String key = metadata.path("namespace").asText() + "/" + job;
    TreeMap<String, TreeSet<String>> clusters =
        running.computeIfAbsent(key, any -> new TreeMap<>());
    TreeSet<String> pods = clusters.computeIfAbsent(cluster, any -> new TreeSet<>());
    String pod = metadata.path("uid").asText();
    if (objectChange.deleted() || ObjectReader.hasEnded(objectChange.object())) {
      pods.remove(pod);
      if (pods.isEmpty()) {
        clusters.remove(cluster);
      }
      return;
    }
    if (pods.add(pod) && clusters.size() > 1) {
      violations.add(
          "%s runs in %s: pod %s was made in %s"
              .formatted(key, clusters.keySet(), metadata.path("name").asText(), cluster));
    }
  }

  /** How many pods of a Job run in a cluster now. */
  public synchronized int pods(String namespace, String job, String cluster) {
    TreeMap<String, TreeSet<String>> clusters = running.get(namespace + "/" + job);
    TreeSet<String> pods = clusters == null ? null : clusters.get(cluster);
    return pods == null ? 0 : pods.size();
  }

  /** One entry for each time that a Job started to run in an additional cluster. */
  public synchronized List<String> violations() {
    return List.copyOf(violations);
  }
}
