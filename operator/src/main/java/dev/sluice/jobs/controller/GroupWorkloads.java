package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.policy.JobAction.PatchWorkload;
import dev.sluice.workload.record.CachedWorkload;
import java.util.Optional;

/**
 * Workloads of groups of pods that another object makes, such as a StatefulSet. The object owns
 * them without controlling them, and is named by annotations.
 */
public final class GroupWorkloads {

  private GroupWorkloads() {}

  /**
   * Marks a composed Workload as that of a group.
   *
   * @param gvk the kind of the object, in the form of the annotation
   */
  public static void mark(ObjectNode workload, JobRef owner, String gvk) {
    ObjectNode metadata = workload.withObjectProperty("metadata");
    metadata.putArray("ownerReferences").add(reference(owner));
    metadata.withObjectProperty("labels").put(KueueConstants.JOB_UID, owner.uid());
    metadata
        .withObjectProperty("annotations")
        .put(KueueConstants.IS_GROUP_WORKLOAD, "true")
        .put(KueueConstants.JOB_OWNER_GVK, gvk)
        .put(KueueConstants.JOB_OWNER_NAME, owner.name());
  }

  /** Whether a Workload was made for a group of pods. */
  public static boolean isMarked(CachedWorkload workload) {
    return "true".equals(workload.annotations().get(KueueConstants.IS_GROUP_WORKLOAD));
  }

  /** Whether the object owns the Workload. */
  public static boolean isOwned(CachedWorkload workload, JobRef owner) {
    return workload.coOwners().stream().anyMatch(it -> it.uid().equals(owner.uid()))
        || workload.owner().filter(it -> it.uid().equals(owner.uid())).isPresent();
  }

  /**
   * Whether pods of the object may join the group of the Workload: not that of one that somebody
   * else made, or that couldn't be made yet.
   *
   * @param awaited whether somebody else is to make it, so that pods may come before it
   */
  public static boolean isJoinable(
      Optional<CachedWorkload> workload, JobRef owner, boolean awaited) {
    return workload.map(it -> isMarked(it) && isOwned(it, owner)).orElse(awaited);
  }

  /** Adds the object to the owners of the Workload, and names it in the annotations. */
  public static PatchWorkload adopt(CachedWorkload workload, JobRef owner, String gvk) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ArrayNode owners = patch.putObject("metadata").putArray("ownerReferences");
    workload.owner().ifPresent(it -> owners.add(reference(it).put("controller", true)));
    workload.coOwners().forEach(it -> owners.add(reference(it)));
    if (!isOwned(workload, owner)) {
      owners.add(reference(owner));
    }
    if (!workload.annotations().containsKey(KueueConstants.JOB_OWNER_GVK)) {
      patch
          .withObjectProperty("metadata")
          .putObject("annotations")
          .put(KueueConstants.JOB_OWNER_GVK, gvk)
          .put(KueueConstants.JOB_OWNER_NAME, owner.name());
    }
    return new PatchWorkload(workload, patch, "");
  }

  private static ObjectNode reference(JobRef owner) {
    return reference(
        new CachedWorkload.Owner(
            owner.kind().apiVersion(), owner.kind().kind(), owner.name(), owner.uid()));
  }

  private static ObjectNode reference(CachedWorkload.Owner owner) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("apiVersion", owner.apiVersion())
        .put("kind", owner.kind())
        .put("name", owner.name())
        .put("uid", owner.uid());
  }
}
