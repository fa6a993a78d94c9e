package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.placement.RemoteStatusAnnotation;
import dev.sluice.checks.multikueue.sync.ReconcileState.StatusThrottle;
import dev.sluice.workload.record.CachedWorkload;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Copies the status of a remote job to the manager's job: to its status, or to an annotation if a
 * controller of the manager owns the status. Thread-safe.
 */
final class JobStatusSync {

  private static final Duration UNTIL_RELEASED = Duration.ofSeconds(2);

  private final RemoteClient manager;
  private final Predicate<CachedWorkload> awaitsPods;

  /**
   * Creates a copier of statuses.
   *
   * @param awaitsPods whether somebody waits for the pods of a Workload to be ready
   */
  JobStatusSync(RemoteClient manager, Predicate<CachedWorkload> awaitsPods) {
    this.manager = manager;
    this.awaitsPods = awaitsPods;
  }

  /**
   * Called before the remote job is created: from now on the quota is kept while remote pods may
   * run.
   */
  void announce(RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, JsonNode local)
      throws IOException {
    if (RemoteStatus.isFor(owner.kind(), local) && RemoteStatusAnnotation.of(local).isEmpty()) {
      ObjectNode nothing = JsonNodeFactory.instance.objectNode();
      write(context, owner, local, RemoteStatus.annotated(nothing));
    }
  }

  /**
   * Copies the status of a remote job that runs, together with the changes of the next seconds
   * unless somebody waits for it.
   *
   * @return the delay before the next attempt, if the status is not written now
   */
  Optional<Duration> follow(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      ObjectNode local,
      JsonNode there)
      throws IOException {
    RemoteJobFactory.StatusUpdate statusUpdate =
        RemoteJobFactory.withRemoteStatus(owner.kind(), local, there, context.now());
    StatusThrottle throttle = context.reconcileState().statusThrottle();
    if (statusUpdate.patch().isEmpty()) {
      throttle.equal();
    } else if (mayWait(context, owner, local, there, statusUpdate.heldBack())) {
      Optional<Duration> left = throttle.hold(context.now());
      if (left.isPresent()) {
        return statusUpdate.heldBack() && UNTIL_RELEASED.compareTo(left.get()) < 0
            ? Optional.of(UNTIL_RELEASED)
            : left;
      }
      throttle.equal();
    }
    return sync(context, owner, local, there);
  }

  /**
   * Whether a status may wait.
   *
   * @param heldBack whether it could only say that the manager's job is suspended: most are
   *     released within moments, which that write would collide with
   */
  private boolean mayWait(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      JsonNode local,
      JsonNode there,
      boolean heldBack) {
    return !RemoteStatus.isFor(owner.kind(), local)
        && !RemoteJobFactory.ended(owner.kind(), there)
        && (heldBack || (!context.local().elastic() && !awaitsPods.test(context.local())));
  }

  /**
   * Copies the remote status.
   *
   * @return the delay before the next attempt, if the status cannot be written now
   */
  Optional<Duration> sync(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      ObjectNode local,
      JsonNode there)
      throws IOException {
    if (RemoteStatus.isFor(owner.kind(), local)) {
      writeAnnotation(context, owner, local, there);
      return Optional.empty();
    }
    RemoteJobFactory.StatusUpdate statusUpdate =
        RemoteJobFactory.withRemoteStatus(owner.kind(), local, there, context.now());
    writeStatus(context, owner, local, statusUpdate.patch());
    return statusUpdate.heldBack() ? Optional.of(UNTIL_RELEASED) : Optional.empty();
  }

  /**
   * Writes the remote status to an annotation; the status itself is written only when the remote
   * job has ended.
   */
  private void writeAnnotation(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      ObjectNode local,
      JsonNode there)
      throws IOException {
    boolean annotated = RemoteStatusAnnotation.of(local).isPresent();
    ObjectNode shown = RemoteStatus.effective(owner.kind(), local);
    JsonNode now =
        RemoteJobFactory.appliedTo(
                shown,
                RemoteJobFactory.withRemoteStatus(owner.kind(), shown, there, context.now())
                    .patch())
            .path("status");
    if (RemoteJobFactory.ended(owner.kind(), there)) {
      writeStatus(context, owner, local, RemoteJobFactory.statusPatch(local, now));
      if (annotated) {
        manager.patch(path(context, owner), RemoteStatus.withoutStatus());
      }
    } else if (isStopped(context, owner, there)) {
      remove(context, owner, local);
    } else if (!annotated || !shown.path("status").equals(now)) {
      write(context, owner, local, RemoteStatus.annotated(now));
    }
  }

  private static boolean isStopped(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, JsonNode there) {
    return context.local().evicted()
        && RemoteJobFactory.at(there, owner.kind().suspend()).asBoolean()
        && RemoteStatus.isIdle(there.path("status"));
  }

  /** Handles an evicted Workload whose remote job was never created or is gone. */
  void missing(RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, ObjectNode local)
      throws IOException {
    if (RemoteStatus.isFor(owner.kind(), local) && context.local().evicted()) {
      remove(context, owner, local);
    }
  }

  /**
   * Clears the pods from the job's status.
   *
   * @return the delay before the next attempt, if the status cannot be written now
   */
  Optional<Duration> clear(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, ObjectNode local)
      throws IOException {
    if (RemoteStatus.isFor(owner.kind(), local)) {
      remove(context, owner, local);
      return Optional.empty();
    }
    writeStatus(
        context,
        owner,
        local,
        RemoteJobFactory.withoutPodCounts(owner.kind(), local, context.now()));
    List<String> suspend = owner.kind().suspend();
    boolean written = suspend.isEmpty() || RemoteJobFactory.at(local, suspend).asBoolean();
    return written ? Optional.empty() : Optional.of(UNTIL_RELEASED);
  }

  private void remove(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, JsonNode local)
      throws IOException {
    if (RemoteStatusAnnotation.of(local).isPresent()) {
      write(context, owner, local, RemoteStatus.withoutStatus());
    }
  }

  private void writeStatus(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      JsonNode local,
      ObjectNode patch)
      throws IOException {
    if (!patch.isEmpty()) {
      manager.patch(path(context, owner) + "/status", RemoteWorkloadContext.at(local, patch));
    }
  }

  private void write(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      JsonNode local,
      ObjectNode patch)
      throws IOException {
    manager.patch(path(context, owner), RemoteWorkloadContext.at(local, patch));
  }

  private static String path(RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner) {
    return owner.path(context.key().namespace());
  }

  /**
   * The status of a remote job whose local job's status is owned by a controller of the manager,
   * because the job might have run in the manager: the remote status is kept in an annotation until
   * the job has ended. Pure functions.
   */
  static final class RemoteStatus {

    private static final List<String> PODS = List.of("active", "ready", "terminating");

    private RemoteStatus() {}

    /**
     * Whether a controller of the manager owns the job's status, because the job might have run in
     * the manager. Applies only to kinds whose status says when the job has ended.
     */
    static boolean isFor(MultiKueueKind kind, JsonNode job) {
      return !kind.status().ends().isEmpty()
          && job.path("metadata")
              .path("annotations")
              .path(LocalClusterAnnotations.MAY_RUN_HERE)
              .asText()
              .equals("true");
    }

    /** The job with the last remote status applied, and not suspended. */
    static ObjectNode effective(MultiKueueKind kind, ObjectNode job) {
      ObjectNode shown = job.deepCopy();
      shown.set(
          "status",
          RemoteStatusAnnotation.of(job)
              .<JsonNode>map(it -> it)
              .orElseGet(JsonNodeFactory.instance::objectNode));
      ObjectNode parent = shown;
      for (String field : kind.suspend().subList(0, kind.suspend().size() - 1)) {
        parent = parent.withObjectProperty(field);
      }
      parent.put(kind.suspend().getLast(), false);
      return shown;
    }

    /** Whether the status counts no pods. */
    static boolean isIdle(JsonNode status) {
      return PODS.stream().allMatch(count -> status.path(count).asInt() == 0);
    }

    /** The patch that writes the remote status to the annotation. */
    static ObjectNode annotated(JsonNode status) {
      ObjectNode patch = JsonNodeFactory.instance.objectNode();
      patch
          .putObject("metadata")
          .putObject("annotations")
          .put(LocalClusterAnnotations.REMOTE_STATUS, status.toString());
      return patch;
    }

    /** The patch that removes the annotation. */
    static ObjectNode withoutStatus() {
      ObjectNode patch = JsonNodeFactory.instance.objectNode();
      patch
          .putObject("metadata")
          .putObject("annotations")
          .putNull(LocalClusterAnnotations.REMOTE_STATUS);
      return patch;
    }
  }
}
