package dev.sluice.jobs.pods;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Keys;
import dev.sluice.jobs.JobView;
import dev.sluice.jobs.JobViews;
import dev.sluice.workloads.PodShape;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** Reads what is kept of a pod from the object's JSON. */
public final class PodViews {

  private PodViews() {}

  /** The view of a pod. */
  public static PodView of(SinglePod adapter, JsonNode pod) {
    JobView job = JobViews.of(adapter, pod);
    return new PodView(
        job,
        group(job),
        role(job, pod),
        phase(pod),
        SinglePod.isGated(pod),
        !pod.path("spec").path("nodeName").asText().isEmpty(),
        lastActive(job, pod));
  }

  /** A view that holds the identity of a pod that can't be read, and nothing else. */
  static PodView unreadable(JsonNode pod) {
    JobView job = JobViews.unreadable(SinglePod.KIND, pod);
    return new PodView(
        job, Optional.empty(), "", PodView.Phase.PENDING, false, false, job.createdAt());
  }

  private static Optional<PodView.Group> group(JobView job) {
    Map<String, String> annotations = job.annotations();
    String preferred = annotations.getOrDefault(Keys.POD_GROUP_NAME, "");
    String name =
        preferred.isEmpty() ? job.labels().getOrDefault(Keys.POD_GROUP_NAME, "") : preferred;
    return name.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new PodView.Group(
                name,
                count(annotations.getOrDefault(Keys.POD_GROUP_TOTAL_COUNT, "")),
                says(annotations, Keys.POD_GROUP_FAST_ADMISSION, "true"),
                says(annotations, Keys.POD_GROUP_SERVING, "true"),
                !says(annotations, Keys.RETRIABLE_IN_GROUP, "false")));
  }

  private static boolean says(Map<String, String> annotations, String key, String value) {
    return value.equals(annotations.get(key));
  }

  private static int count(String text) {
    try {
      return Math.max(0, Integer.parseInt(text));
    } catch (NumberFormatException notACount) {
      return 0;
    }
  }

  /** The webhook tells every pod its role; whom it never saw has that of its shape. */
  private static String role(JobView job, JsonNode pod) {
    String told = job.annotations().getOrDefault(Keys.ROLE_HASH, "");
    return told.isEmpty() ? PodShape.of(pod.path("spec")).roleHash() : told;
  }

  private static PodView.Phase phase(JsonNode pod) {
    return switch (SinglePod.phase(pod)) {
      case "Running" -> PodView.Phase.RUNNING;
      case "Succeeded" -> PodView.Phase.SUCCEEDED;
      case "Failed" -> PodView.Phase.FAILED;
      default -> PodView.Phase.PENDING;
    };
  }

  private static Instant lastActive(JobView job, JsonNode pod) {
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
