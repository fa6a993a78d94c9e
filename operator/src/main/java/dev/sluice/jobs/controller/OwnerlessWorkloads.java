package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.policy.WorkloadStatuses;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Owner;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.status.WorkloadFinalizer;
import dev.sluice.workload.writing.WorkloadWriter;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends Workloads whose owners don't exist any more, of whatever kind these are
 * (docs/workload-semantics.md#finalizers-and-ownership): they are finished with reason {@code
 * OwnerNotFound}, and lose their finalizer, so that quota, queues and flavors are given back. The
 * garbage collector deletes most of them first; this finds the others, by a look at all Workloads
 * from time to time. Caches tell which owners exist; before a write, the API server is asked.
 */
public final class OwnerlessWorkloads implements WorkloadListener, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(OwnerlessWorkloads.class);
  private static final ObjectKey ALL = new ObjectKey("", "");

  /** The garbage collector and the controllers of kinds go first. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  private static final Duration PERIOD = Duration.ofMinutes(5);

  private final WorkloadLister workloads;
  private final WorkloadWriter writer;
  private final OwnerLookup owners;
  private final JobReconciler.Dependencies dependencies;
  private final BiPredicate<String, Owner> cached;
  private final Predicate<Owner> external;
  private final BooleanSupplier leading;
  private final WorkQueue<ObjectKey> queue;
  private volatile boolean synced;

  /**
   * At rest until {@link #leadershipStarted}. Listens to the Workload reader.
   *
   * @param leading whether this process may write, at the moment of asking
   * @param cached whether the caches have the owner of a Workload in this namespace
   * @param external whether an owner is of a kind that another controller handles, which removes
   *     finalizers itself
   */
  public OwnerlessWorkloads(
      JobReconciler.Dependencies dependencies,
      WorkQueueSettings settings,
      BooleanSupplier leading,
      BiPredicate<String, Owner> cached,
      Predicate<Owner> external) {
    this.dependencies = dependencies;
    this.workloads = dependencies.workloads().store();
    this.writer = dependencies.writer();
    this.owners = new OwnerLookup(dependencies.objects());
    this.cached = cached;
    this.external = external;
    this.leading = leading;
    this.queue = new WorkQueue<>(this::handle, settings);
    dependencies.workloads().listen(this);
  }

  /** Begins to look. */
  public void leadershipStarted() {
    queue.enqueueAfter(ALL, GRACE);
  }

  /** Looks at all Workloads soon: a kind of owner is not watched any more. */
  public void check() {
    queue.enqueueAfter(ALL, GRACE);
  }

  @Override
  public void synced() {
    synced = true;
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (after != null && mayAct() && concerns(after)) {
      queue.enqueueAfter(key(after), GRACE);
    }
  }

  @Override
  public void close() {
    queue.close();
  }

  private boolean mayAct() {
    return synced && leading.getAsBoolean();
  }

  private static ObjectKey key(CachedWorkload workload) {
    return new ObjectKey(workload.id().namespace(), workload.id().name());
  }

  /** Whether there is something left to do for a Workload if its owners don't exist. */
  private boolean concerns(CachedWorkload workload) {
    return workload.owned()
        && (workload.finalized() || !(workload.finished() || workload.deleting()))
        && owners(workload).stream()
            .noneMatch(owner -> cached.test(workload.id().namespace(), owner));
  }

  private static List<Owner> owners(CachedWorkload workload) {
    List<Owner> all = new ArrayList<>(workload.coOwners());
    workload.owner().ifPresent(all::add);
    return all;
  }

  private Optional<Duration> handle(ObjectKey key) throws InterruptedException {
    if (!mayAct()) {
      return Optional.empty();
    }
    if (key.equals(ALL)) {
      for (CachedWorkload workload : workloads.all()) {
        if (concerns(workload)) {
          queue.enqueue(key(workload));
        }
      }
      return Optional.of(PERIOD);
    }
    Optional<CachedWorkload> found =
        workloads.get(key.namespace(), key.name()).filter(this::concerns);
    return found.isPresent() && areGone(found.get()) ? end(found.get()) : Optional.empty();
  }

  private boolean areGone(CachedWorkload workload) throws InterruptedException {
    for (Owner owner : owners(workload)) {
      switch (owners.find(workload.id().namespace(), owner)) {
        case EXISTS -> {
          return false;
        }
        case UNKNOWN -> {
          // The Workload was deleted, and no controller that this one knows of waits for it.
          if (!workload.deleting() || external.test(owner)) {
            return false;
          }
        }
        case MISSING -> {}
      }
    }
    return true;
  }

  private Optional<Duration> end(CachedWorkload workload) throws InterruptedException {
    boolean finishes = !workload.finished() && !workload.deleting();
    Outcome outcome =
        Futures.forResult(
            finishes
                ? writer.patchStatus(
                    workload.id(),
                    workload.version(),
                    finished(workload),
                    WorkloadWriter.Urgency.DECISION)
                : writer.patch(
                    workload.id(), workload.version(), WorkloadFinalizer.removal(workload)));
    if (outcome instanceof Outcome.Written) {
      LOG.info(
          "workload={} {}, reason=OwnerNotFound",
          workload.id(),
          finishes ? "finished" : "released");
    }
    return WorkloadReleaser.retryDelay(outcome);
  }

  private ObjectNode finished(CachedWorkload workload) {
    return WorkloadStatuses.finished(
        workload,
        KueueConstants.OWNER_NOT_FOUND,
        "The owner of the workload doesn't exist any more",
        dependencies.clock().instant());
  }

  /** Asks the API server whether an owner exists, whatever its kind. */
  private static final class OwnerLookup {

    private static final Logger LOG = LoggerFactory.getLogger(OwnerLookup.class);

    private final JobClient objects;

    OwnerLookup(JobClient objects) {
      this.objects = objects;
    }

    /** What the API server says of an owner. */
    enum Answer {
      EXISTS,
      MISSING,
      /** The server doesn't answer, or this process may not read the kind. */
      UNKNOWN
    }

    Answer find(String namespace, Owner owner) throws InterruptedException {
      try {
        return read(namespace, owner);
      } catch (IllegalStateException refused) {
        LOG.debug("owner={}/{} not read: {}", namespace, owner.name(), refused.getMessage());
        return Answer.UNKNOWN;
      }
    }

    private Answer read(String namespace, Owner owner) throws InterruptedException {
      String version = owner.apiVersion();
      Optional<ObjectNode> resources = resources(version);
      Optional<JsonNode> resource = resources.flatMap(all -> resource(all, owner.kind()));
      if (resource.isEmpty() && version.contains("/")) {
        String group = version.replaceFirst("/.*", "");
        Optional<ObjectNode> served = Futures.forResult(objects.read("/apis/" + group));
        if (served.isEmpty()) {
          return Answer.MISSING;
        }
        // the kind may have moved to another version since, and the object with it
        Iterator<JsonNode> others = served.get().path("versions").iterator();
        while (resource.isEmpty() && others.hasNext()) {
          version = others.next().path("groupVersion").asText();
          resource = resources(version).flatMap(all -> resource(all, owner.kind()));
        }
      }
      if (resource.isEmpty()) {
        return resources.isPresent() ? Answer.MISSING : Answer.UNKNOWN;
      }
      String scope =
          resource.get().path("namespaced").asBoolean() ? "/namespaces/" + namespace : "";
      String path =
          path(version) + scope + "/" + resource.get().path("name").asText() + "/" + owner.name();
      return Futures.forResult(objects.read(path))
              .filter(found -> found.path("metadata").path("uid").asText().equals(owner.uid()))
              .isPresent()
          ? Answer.EXISTS
          : Answer.MISSING;
    }

    /** What a version of a group serves; empty if it isn't served. */
    private Optional<ObjectNode> resources(String version) throws InterruptedException {
      return Futures.forResult(objects.read(path(version)));
    }

    private static String path(String version) {
      return (version.contains("/") ? "/apis/" : "/api/") + version;
    }

    private static Optional<JsonNode> resource(ObjectNode resources, String kind) {
      return resources
          .path("resources")
          .valueStream()
          .filter(each -> each.path("kind").asText().equals(kind))
          .filter(each -> !each.path("name").asText().contains("/"))
          .findFirst();
    }
  }

  /** Removes the finalizer of Workloads whose job doesn't exist any more. */
  public static final class WorkloadReleaser {

    /** The delay after which to look again at a Workload that can't be released yet. */
    public static final Duration AGAIN = Duration.ofSeconds(2);

    private static final Logger LOG = LoggerFactory.getLogger(WorkloadReleaser.class);

    /** A refused write leaves the quota held, so it is repeated. */
    private static final Duration AFTER_REFUSAL = Duration.ofSeconds(10);

    private final WorkloadWriter writer;

    /** Writes by this writer. */
    public WorkloadReleaser(WorkloadWriter writer) {
      this.writer = writer;
    }

    /**
     * Removes the finalizer of a Workload.
     *
     * @param reason why, for the log
     * @return the delay after which to try again; empty if nothing is left to do
     */
    public Optional<Duration> release(CachedWorkload workload, String reason)
        throws InterruptedException {
      WorkloadWriter.Outcome outcome =
          Futures.forResult(
              writer.patch(workload.id(), workload.version(), WorkloadFinalizer.removal(workload)));
      if (outcome instanceof WorkloadWriter.Outcome.Written) {
        LOG.info("workload={} released, reason=\"{}\"", workload.id(), reason);
      }
      return retryDelay(outcome);
    }

    /**
     * The delay after which to repeat a write that gives back quota; empty if it was written or is
     * not needed any more.
     */
    public static Optional<Duration> retryDelay(WorkloadWriter.Outcome outcome) {
      return switch (outcome) {
        case WorkloadWriter.Outcome.Written written -> Optional.empty();
        case WorkloadWriter.Outcome.Gone gone -> Optional.empty();
        case WorkloadWriter.Outcome.Conflict conflict -> Optional.of(AGAIN);
        case WorkloadWriter.Outcome.Refused refused -> Optional.of(AFTER_REFUSAL);
      };
    }
  }
}
