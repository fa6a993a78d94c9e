package dev.sluice.jobs.kinds.pod;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.workload.record.PodRoleHash;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** Reads what is kept of a pod from the object's JSON. */
public final class CachedPodParser {

  private CachedPodParser() {}

  /** The view of a pod. */
  public static CachedPod of(SinglePod integration, JsonNode pod) {
    CachedJob job = CachedJobParser.of(integration, pod);
    return new CachedPod(
        job,
        group(job),
        role(job, pod),
        phase(pod),
        SinglePod.isGated(pod),
        !pod.path("spec").path("nodeName").asText().isEmpty(),
        lastActive(job, pod));
  }

  private static Optional<CachedPod.Group> group(CachedJob job) {
    Map<String, String> annotations = job.annotations();
    String preferred = annotations.getOrDefault(KueueConstants.POD_GROUP_NAME, "");
    String name =
        preferred.isEmpty()
            ? job.labels().getOrDefault(KueueConstants.POD_GROUP_NAME, "")
            : preferred;
    return name.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new CachedPod.Group(
                name,
                count(annotations.getOrDefault(KueueConstants.POD_GROUP_TOTAL_COUNT, "")),
                says(annotations, KueueConstants.POD_GROUP_FAST_ADMISSION, "true"),
                says(annotations, KueueConstants.POD_GROUP_SERVING, "true"),
                !says(annotations, KueueConstants.RETRIABLE_IN_GROUP, "false")));
  }

  private static boolean says(Map<String, String> annotations, String key, String value) {
    return value.equals(annotations.get(key));
  }

  /** The number of an annotation; 0 if it is none, or negative. */
  static int count(String text) {
    try {
      return Math.max(0, Integer.parseInt(text));
    } catch (NumberFormatException notACount) {
      return 0;
    }
  }

  /** The webhook tells every pod its role; whom it never saw has that of its shape. */
  private static String role(CachedJob job, JsonNode pod) {
    String told = job.annotations().getOrDefault(KueueConstants.ROLE_HASH, "");
    return told.isEmpty() ? PodRoleHash.of(pod.path("spec")).roleHash() : told;
  }

  private static CachedPod.Phase phase(JsonNode pod) {
    return switch (SinglePod.phase(pod)) {
      case "Running" -> CachedPod.Phase.RUNNING;
      case "Succeeded" -> CachedPod.Phase.SUCCEEDED;
      case "Failed" -> CachedPod.Phase.FAILED;
      default -> CachedPod.Phase.PENDING;
    };
  }

  private static Instant lastActive(CachedJob job, JsonNode pod) {
    Instant latest = job.createdAt();
    for (JsonNode container : pod.path("status").path("containerStatuses")) {
      latest = later(latest, container.path("state").path("terminated").path("finishedAt"));
    }
    for (JsonNode condition : pod.path("status").path("conditions")) {
      latest = later(latest, condition.path("lastTransitionTime"));
    }
    return latest;
  }

  private static Instant later(Instant one, JsonNode time) {
    Instant other = time.isTextual() ? Instant.parse(time.asText()) : one;
    return other.isAfter(one) ? other : one;
  }
}
