package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.checks.multikueue.placement.GroupPlacement;
import dev.sluice.checks.multikueue.placement.GroupPlacement.Member;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Knows which Workloads belong to the same job, for jobs that have several. All of them go to the
 * same worker, so they are reconciled one at a time. Thread-safe.
 */
final class JobGroups {

  private final WorkloadLister workloads;
  private final Map<GroupedJob, Set<String>> names = new ConcurrentHashMap<>();
  private final Map<GroupedJob, ClusterClaim> claims = new ConcurrentHashMap<>();

  /** The spec that the remote job was last given: its UID, and the manager's generation. */
  private final Map<GroupedJob, String> pushed = new ConcurrentHashMap<>();

  /** The jobs of which a Workload is being reconciled. */
  private final Map<GroupedJob, ReentrantLock> locks = new ConcurrentHashMap<>();

  /** A job with several Workloads, as its Workloads name it. */
  record GroupedJob(String namespace, String gvk, String name) {}

  /**
   * A worker that a Workload was told to use, until the cache shows a later version of the
   * Workload.
   */
  private record ClusterClaim(String workload, long version, String cluster) {}

  JobGroups(WorkloadLister workloads) {
    this.workloads = workloads;
  }

  /** The job of a Workload that is one of several; empty for any other Workload. */
  static Optional<GroupedJob> job(CachedWorkload workload) {
    String gvk = workload.annotations().getOrDefault(KueueConstants.JOB_OWNER_GVK, "");
    String name = workload.annotations().getOrDefault(KueueConstants.JOB_OWNER_NAME, "");
    return gvk.isEmpty()
            || name.isEmpty()
            || !workload.annotations().containsKey(KueueConstants.COMPONENT_WORKLOAD_INDEX)
        ? Optional.empty()
        : Optional.of(new GroupedJob(workload.id().namespace(), gvk, name));
  }

  /** The job of a Workload group, by the manager's Workload or a worker's copy. */
  static Optional<GroupedJob> job(RemoteWorkloadContext context) {
    return context
        .workload()
        .map(JobGroups::job)
        .orElseGet(
            () -> context.copies().values().stream().flatMap(it -> job(it).stream()).findFirst());
  }

  /** The job of this kind and key. */
  static GroupedJob job(MultiKueueKind kind, Key job) {
    return new GroupedJob(job.namespace(), kind.apiVersion() + ", Kind=" + kind.kind(), job.name());
  }

  /** The same, by a copy. */
  static Optional<GroupedJob> job(JsonNode copy) {
    JsonNode annotations = copy.path("metadata").path("annotations");
    String gvk = annotations.path(KueueConstants.JOB_OWNER_GVK).asText();
    String name = annotations.path(KueueConstants.JOB_OWNER_NAME).asText();
    return gvk.isEmpty()
            || name.isEmpty()
            || !annotations.has(KueueConstants.COMPONENT_WORKLOAD_INDEX)
        ? Optional.empty()
        : Optional.of(new GroupedJob(copy.path("metadata").path("namespace").asText(), gvk, name));
  }

  /**
   * Notes a change of the manager's Workloads.
   *
   * @return the other Workloads of the job for which the change may matter
   */
  List<Key> changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    CachedWorkload either = after == null ? before : after;
    Optional<GroupedJob> job = either == null ? Optional.empty() : job(either);
    if (either == null || job.isEmpty()) {
      return List.of();
    }
    String name = either.id().name();
    names.compute(
        job.get(),
        (same, known) -> {
          Set<String> all = new TreeSet<>(known == null ? Set.of() : known);
          if (after == null) {
            all.remove(name);
          } else {
            all.add(name);
          }
          if (all.isEmpty()) {
            claims.remove(job.get());
            pushed.remove(job.get());
            return null;
          }
          return all;
        });
    if (before != null && after != null && member(before).equals(member(after))) {
      return List.of();
    }
    return others(job.get(), name)
        .filter(it -> it.quotaReserved() && cluster(it).isEmpty())
        .map(it -> new Key(it.id().namespace(), it.id().name()))
        .toList();
  }

  private Stream<CachedWorkload> others(GroupedJob job, String workload) {
    return names.getOrDefault(job, Set.of()).stream()
        .filter(name -> !name.equals(workload))
        .flatMap(name -> workloads.get(job.namespace(), name).stream());
  }

  /** The other Workloads of a job that are evicted, but hold quota yet. */
  List<Key> stopping(GroupedJob job, CachedWorkload self) {
    return others(job, self.id().name())
        .filter(it -> it.quotaReserved() && it.evicted() && !isOver(it))
        .map(it -> new Key(it.id().namespace(), it.id().name()))
        .toList();
  }

  /** How many Workloads of a job exist. */
  int count(GroupedJob job) {
    return (int) others(job, "").filter(it -> !isOver(it)).count();
  }

  /**
   * Waits until no other Workload of the job is reconciled, and keeps others waiting until {@link
   * #unlock}. Jobs don't wait for each other: the worker of one may not answer.
   */
  void lock(GroupedJob job) {
    ReentrantLock lock = held(job);
    while (locks.get(job) != lock) {
      // the one before dropped it
      lock.unlock();
      lock = held(job);
    }
  }

  private ReentrantLock held(GroupedJob job) {
    ReentrantLock lock = locks.computeIfAbsent(job, any -> new ReentrantLock());
    lock.lock();
    return lock;
  }

  /** Ends what {@link #lock} began; called by the same thread. */
  void unlock(GroupedJob job) {
    Optional.ofNullable(locks.remove(job)).ifPresent(ReentrantLock::unlock);
  }

  /** What decides which workers a Workload may use that runs in none. */
  GroupPlacement.Choice choice(GroupedJob job, CachedWorkload self) {
    Optional<ClusterClaim> claim = claim(job).filter(it -> !it.workload().equals(self.id().name()));
    return claim.isPresent()
        ? new GroupPlacement.Choice.Follow(claim.get().cluster())
        : GroupPlacement.of(
            member(self), others(job, self.id().name()).map(JobGroups::member).toList());
  }

  /** Notes that a Workload is told to use a worker, before that is written. */
  void claim(GroupedJob job, CachedWorkload workload, String cluster) {
    claims.put(job, new ClusterClaim(workload.id().name(), workload.version(), cluster));
  }

  /** Whether the remote job was last given this spec. */
  boolean isPushed(GroupedJob job, String spec) {
    return spec.equals(pushed.get(job));
  }

  /** Notes the spec that the remote job was given, while the job has Workloads. */
  void pushed(GroupedJob job, String spec) {
    names.computeIfPresent(
        job,
        (same, known) -> {
          pushed.put(job, spec);
          return known;
        });
  }

  /** The claim that the cache doesn't show yet. */
  private Optional<ClusterClaim> claim(GroupedJob job) {
    return Optional.ofNullable(
        claims.computeIfPresent(
            job,
            (same, claim) ->
                workloads
                        .get(job.namespace(), claim.workload())
                        .filter(it -> it.version() == claim.version())
                        .isPresent()
                    ? claim
                    : null));
  }

  /** Whether another Workload of the job runs in a worker, so that the job is needed there. */
  boolean isUsed(GroupedJob job, String workload, String cluster) {
    return claim(job)
            .filter(it -> !it.workload().equals(workload) && it.cluster().equals(cluster))
            .isPresent()
        || others(job, workload).anyMatch(it -> cluster(it).filter(cluster::equals).isPresent());
  }

  private static Member member(CachedWorkload workload) {
    return new Member(
        workload.id().name(),
        index(workload),
        workload.quotaReserved() && !workload.evicted() && !isOver(workload),
        cluster(workload));
  }

  private static boolean isOver(CachedWorkload workload) {
    return workload.deleting() || workload.finished();
  }

  private static Optional<String> cluster(CachedWorkload workload) {
    return Optional.of(workload.status().remotePlacement().cluster())
        .filter(name -> !name.isEmpty() && !isOver(workload));
  }

  private static int index(CachedWorkload workload) {
    try {
      return Integer.parseInt(
          workload.annotations().getOrDefault(KueueConstants.COMPONENT_WORKLOAD_INDEX, ""));
    } catch (NumberFormatException notANumber) {
      return Integer.MAX_VALUE;
    }
  }
}
