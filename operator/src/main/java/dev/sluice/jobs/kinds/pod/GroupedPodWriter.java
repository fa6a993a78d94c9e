package dev.sluice.jobs.kinds.pod;

import dev.sluice.jobs.controller.JobReconciler;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ConflictBackoff;
import dev.sluice.kube.client.Futures;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes and deletes pods that another object makes. It may be used by several threads. */
public final class GroupedPodWriter {

  private static final Logger LOG = LoggerFactory.getLogger(GroupedPodWriter.class);
  private static final Duration LATER = Duration.ofSeconds(30);

  private final JobReconciler.Dependencies dependencies;
  private final Semaphore writers;
  private final ConflictBackoff<String> conflicts = new ConflictBackoff<>();

  /** Writes as often at the same time as {@code writers} allows. */
  public GroupedPodWriter(JobReconciler.Dependencies dependencies, Semaphore writers) {
    this.dependencies = dependencies;
    this.writers = writers;
  }

  /**
   * Patches a pod so that it joins its group or leaves it.
   *
   * @param parent the object that makes the pod
   * @return the delay after which to try again; empty if nothing is left to do
   */
  public Optional<Duration> patch(JobRef parent, CachedJob pod, JobPatch patch)
      throws InterruptedException {
    writers.acquire();
    try {
      return outcome(
          parent,
          pod,
          Futures.forResult(dependencies.objects().patch(pod.ref(), pod.version(), patch)),
          "joins its group or leaves it");
    } finally {
      writers.release();
    }
  }

  /** Deletes a gated pod, so that its parent makes it anew and it can join its group. */
  public Optional<Duration> delete(JobRef parent, CachedJob pod) throws InterruptedException {
    writers.acquire();
    try {
      return outcome(
          parent,
          pod,
          Futures.forResult(dependencies.objects().delete(pod.ref())),
          "deleted, since it waits in the group of another Workload");
    } finally {
      writers.release();
    }
  }

  private Optional<Duration> outcome(
      JobRef parent, CachedJob pod, ApiOutcome outcome, String change) {
    return switch (outcome) {
      case ApiOutcome.Written written -> {
        conflicts.reset(pod.ref().uid());
        LOG.info("job=\"{}\" pod={} {}", parent, pod.ref(), change);
        yield Optional.empty();
      }
      case ApiOutcome.Conflict conflict -> Optional.of(conflicts.next(pod.ref().uid()));
      case ApiOutcome.Gone gone -> {
        conflicts.reset(pod.ref().uid());
        yield Optional.empty();
      }
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
      case ApiOutcome.Refused refused -> {
        LOG.warn(
            "job=\"{}\" pod={} not written, reason=\"{}\"", parent, pod.ref(), refused.message());
        dependencies
            .events()
            .warning(pod.ref(), "WriteRefused", "Not written: " + refused.message());
        yield Optional.of(LATER);
      }
    };
  }
}
