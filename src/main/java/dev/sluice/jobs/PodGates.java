package dev.sluice.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.CachedWorkload;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The pods of an elastic job at the API server, and the gates that hold back those that no quota
 * was granted for (docs/elastic-jobs.md#pods). It lists the pods whenever it is asked, because a
 * cache that misses a pod would let too many run.
 */
final class PodGates {

  private static final JobKind POD = new JobKind("", "v1", "Pod", "pods", "pod");

  private final JobIntegration integration;
  private final JobClient objects;

  PodGates(JobIntegration integration, JobClient objects) {
    this.integration = integration;
    this.objects = objects;
  }

  /** The pods of a job that have not ended, by pod set and in the order of their names. */
  private Map<String, List<JsonNode>> pods(JobRef job, CachedWorkload slice)
      throws InterruptedException {
    String selector = integration.podSelector(job.name());
    String path =
        "/api/v1/namespaces/%s/pods?labelSelector=%s"
            .formatted(job.namespace(), URLEncoder.encode(selector, StandardCharsets.UTF_8));
    ObjectNode list =
        Futures.forResult(objects.read(path))
            .orElseThrow(() -> new IllegalStateException("pods of " + job + " can't be listed"));
    String only =
        slice.spec().podSets().size() == 1 ? slice.spec().podSets().getFirst().name() : "";
    Map<String, List<JsonNode>> pods = new TreeMap<>();
    for (JsonNode pod : list.path("items")) {
      String phase = pod.path("status").path("phase").asText();
      if (!phase.equals("Succeeded") && !phase.equals("Failed")) {
        String podSet =
            pod.path("metadata").path("labels").path(KueueConstants.PODSET).asText(only);
        pods.computeIfAbsent(podSet, name -> new ArrayList<>()).add(pod);
      }
    }
    pods.values().forEach(each -> each.sort(Comparator.comparing(PodGates::name)));
    return pods;
  }

  private static String name(JsonNode pod) {
    return pod.path("metadata").path("name").asText();
  }

  private static boolean isGated(JsonNode pod) {
    for (JsonNode gate : pod.path("spec").path("schedulingGates")) {
      if (gate.path("name").asText().equals(KueueConstants.ELASTIC_JOB)) {
        return true;
      }
    }
    return false;
  }

  /** Whether a pod is being deleted: it takes room until it is gone, and another one may follow. */
  private static boolean isLeaving(JsonNode pod) {
    return pod.path("metadata").has("deletionTimestamp");
  }

  private static long open(List<JsonNode> pods) {
    return pods.stream().filter(pod -> !isGated(pod)).count();
  }

  /** Whether no pod set has more pods without gate than these counts. */
  boolean areWithin(JobRef job, CachedWorkload slice, Map<String, Integer> counts)
      throws InterruptedException {
    return pods(job, slice).entrySet().stream()
        .allMatch(pods -> open(pods.getValue()) <= counts.getOrDefault(pods.getKey(), 0));
  }

  /**
   * Opens gates until as many pods of each pod set are without gate as were granted.
   *
   * @return whether all granted pods are there, open and not being deleted
   */
  boolean open(JobRef job, CachedWorkload slice) throws InterruptedException {
    Map<String, Integer> granted = SlicePolicy.granted(slice);
    Map<String, List<JsonNode>> pods = pods(job, slice);
    boolean complete = true;
    for (Map.Entry<String, Integer> podSet : granted.entrySet()) {
      List<JsonNode> present = pods.getOrDefault(podSet.getKey(), List.of());
      long leaving = present.stream().filter(pod -> !isGated(pod) && isLeaving(pod)).count();
      long free = podSet.getValue() - open(present);
      for (JsonNode pod : present) {
        if (free > 0 && isGated(pod) && !isLeaving(pod)) {
          free -= open(job, pod) ? 1 : 0;
        }
      }
      complete &= free + leaving <= 0;
    }
    return complete;
  }

  /** Opens a pod; the write is refused if the pod has changed since it was listed. */
  private boolean open(JobRef job, JsonNode pod) throws InterruptedException {
    JsonNode metadata = pod.path("metadata");
    JobRef ref = new JobRef(POD, job.namespace(), name(pod), metadata.path("uid").asText());
    ArrayNode rest = JsonNodeFactory.instance.arrayNode();
    for (JsonNode gate : pod.path("spec").path("schedulingGates")) {
      if (!gate.path("name").asText().equals(KueueConstants.ELASTIC_JOB)) {
        rest.add(gate);
      }
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    if (rest.isEmpty()) {
      body.putObject("spec").putNull("schedulingGates");
    } else {
      body.putObject("spec").set("schedulingGates", rest);
    }
    ApiOutcome outcome =
        Futures.forResult(
            objects.patch(
                ref, metadata.path("resourceVersion").asLong(), new JobPatch(false, body)));
    if (outcome instanceof ApiOutcome.Unreachable unreachable) {
      throw unreachable.exception();
    }
    return outcome instanceof ApiOutcome.Written;
  }

  /** The newest state of a slice; empty if it has changed since it was looked at. */
  Optional<ObjectNode> read(CachedWorkload slice) throws InterruptedException {
    return Futures.forResult(
            objects.read(JobKind.WORKLOAD.path(slice.id().namespace(), slice.id().name())))
        .filter(
            object -> object.path("metadata").path("resourceVersion").asLong() == slice.version());
  }
}
