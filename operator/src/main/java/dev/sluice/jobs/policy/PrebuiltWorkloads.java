package dev.sluice.jobs.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.policy.JobAction.PatchWorkload;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Workloads that a job names as made for it. The job becomes the controller of one that nothing
 * else runs under, and of no other.
 */
public final class PrebuiltWorkloads {

  /** The longest value of a label, in characters. */
  private static final int LONGEST_LABEL = 63;

  private final Predicate<CachedWorkload.Owner> sharing;

  /**
   * Knows Workloads that are nobody's.
   *
   * @param sharing the owners of a Workload that have it although none is its controller
   */
  public PrebuiltWorkloads(Predicate<CachedWorkload.Owner> sharing) {
    this.sharing = sharing;
  }

  /**
   * A job without the annotation that names a prebuilt Workload, where a label could say the same:
   * a name of more than 63 characters fits into an annotation only.
   */
  public static JsonNode namedByLabel(JsonNode job) {
    String name =
        job.path("metadata")
            .path("annotations")
            .path(KueueConstants.PREBUILT_WORKLOAD_NAME)
            .asText();
    if (name.isEmpty() || name.length() > LONGEST_LABEL) {
      return job;
    }
    JsonNode copy = job.deepCopy();
    if (copy.path("metadata").path("annotations") instanceof ObjectNode annotations) {
      annotations.remove(KueueConstants.PREBUILT_WORKLOAD_NAME);
    }
    return copy;
  }

  /** Whether a job that names this Workload may become its controller. */
  boolean isFree(CachedWorkload workload) {
    return !workload.deleting() && holder(workload).isEmpty();
  }

  /** Whose Workload this is, for people; empty when a job may have it. */
  private Optional<String> holder(CachedWorkload workload) {
    Optional<CachedWorkload.Owner> beside =
        workload.coOwners().stream().filter(sharing).findFirst();
    Optional<String> owner =
        workload.owner().or(() -> beside).map(found -> found.kind() + " " + found.name());
    boolean ofGroup = "true".equals(workload.annotations().get(KueueConstants.IS_GROUP_WORKLOAD));
    return owner.or(() -> ofGroup ? Optional.of("a group of pods") : Optional.empty());
  }

  /** Waits for the Workload; says so where another has it. */
  List<JobAction> awaited(Optional<CachedWorkload> prebuilt, Duration retry) {
    Requeue requeue = new Requeue(retry);
    return prebuilt
        .flatMap(
            workload ->
                holder(workload)
                    .map(
                        holder ->
                            List.<JobAction>of(
                                new Warn(
                                    "WorkloadNameConflict",
                                    "Prebuilt Workload %s belongs to %s"
                                        .formatted(workload.id(), holder)),
                                requeue)))
        .orElse(List.of(requeue));
  }

  /** Makes the job the controller of a free Workload, beside the owners that it has. */
  static PatchWorkload adopt(CachedWorkload workload, CachedJob job) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ObjectNode metadata = patch.putObject("metadata");
    ArrayNode owners = metadata.putArray("ownerReferences");
    workload
        .coOwners()
        .forEach(
            owner ->
                owners
                    .addObject()
                    .put("apiVersion", owner.apiVersion())
                    .put("kind", owner.kind())
                    .put("name", owner.name())
                    .put("uid", owner.uid()));
    owners.add(WorkloadFactory.ownerReference(job.ref()));
    metadata.putObject("labels").put(KueueConstants.JOB_UID, job.ref().uid());
    return new PatchWorkload(workload, patch, "");
  }
}
