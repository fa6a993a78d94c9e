package dev.sluice.jobs.kinds.pod;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.controller.CachedJobParser;
import dev.sluice.jobs.controller.JobResource;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.kube.reflect.TolerantDeserializers;
import dev.sluice.kube.reflect.UnreadableMetadata;
import dev.sluice.workload.record.PodRoleHash;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** A Pod in the cache. */
@Group("")
@Version("v1")
@Kind("Pod")
@Plural("pods")
@JsonDeserialize(using = PodResource.Reader.class)
public final class PodResource extends JobResource {

  private static final long serialVersionUID = 1L;

  private final transient CachedPod pod;

  /** Holds this view. */
  public PodResource(CachedPod pod) {
    super(pod.job());
    this.pod = pod;
  }

  private PodResource(CachedPod pod, UnreadableMetadata metadata) {
    super(pod.job(), metadata);
    this.pod = pod;
  }

  /** What is known of the pod. */
  public CachedPod pod() {
    return pod;
  }

  /** Reads a Pod, and keeps its view only. */
  static final class Reader extends JsonDeserializer<PodResource> {

    private final SinglePod adapter = new SinglePod();

    @Override
    public PodResource deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      return TolerantDeserializers.read(
          parser,
          context,
          object -> new PodResource(CachedPodParser.of(adapter, object)),
          (object, metadata) -> new PodResource(CachedPodParser.unreadable(object), metadata));
    }
  }

  /** Reads what is kept of a pod from the object's JSON. */
  public static final class CachedPodParser {

    private CachedPodParser() {}

    /** The view of a pod. */
    public static CachedPod of(SinglePod adapter, JsonNode pod) {
      CachedJob job = CachedJobParser.of(adapter, pod);
      return new CachedPod(
          job,
          group(job),
          role(job, pod),
          phase(pod),
          SinglePod.isGated(pod),
          !pod.path("spec").path("nodeName").asText().isEmpty(),
          lastActive(job, pod));
    }

    /** A view that holds the identity of a pod that can't be read, and nothing else. */
    static CachedPod unreadable(JsonNode pod) {
      CachedJob job = CachedJobParser.unreadable(SinglePod.KIND, pod);
      return new CachedPod(
          job, Optional.empty(), "", CachedPod.Phase.PENDING, false, false, job.createdAt());
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

    private static int count(String text) {
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
}
