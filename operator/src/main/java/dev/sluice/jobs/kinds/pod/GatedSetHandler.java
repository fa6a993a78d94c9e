package dev.sluice.jobs.kinds.pod;

import dev.sluice.jobs.kind.JobKind;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * What a {@link GatedSetController} has to know of a kind.
 *
 * @param <S> what is kept of an object
 */
public interface GatedSetHandler<S extends GatedSet> {

  /** The kind. */
  JobKind kind();

  /** How the Workloads of the kind name it in {@code kueue.x-k8s.io/job-owner-gvk}. */
  String ownerGvk();

  /** The name of the set that a gated pod belongs to; empty if it belongs to none of this kind. */
  Optional<String> setOf(CachedPod pod);

  /**
   * The managed pods of a set; pods of others may be among them.
   *
   * @param workloads the names of the Workloads that name the set as their job
   */
  List<CachedPod> members(S set, Set<String> workloads, PodIndex marked);

  /**
   * Whether a rollout is about to replace a member of a set, and waits for it to run until then. Of
   * kinds whose rollouts let pods leave their group, no member is such a pod.
   */
  default boolean isReplaced(S set, CachedPod pod) {
    return false;
  }

  /**
   * Does what a set and its pods need now.
   *
   * @param pods its pods, as far as they are managed or gated; pods of others may be among them
   * @param own the Workloads that name the set as their job
   * @return the delay after which to reconcile again even without an event; empty if an event will
   *     follow
   */
  Optional<Duration> reconcile(S set, List<CachedPod> pods, Supplier<List<CachedWorkload>> own)
      throws InterruptedException;

  /** Forgets a set that is deleted. */
  void forget(S set);
}
