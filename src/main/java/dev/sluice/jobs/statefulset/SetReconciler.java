package dev.sluice.jobs.statefulset;

import dev.sluice.jobs.Ancestry;
import dev.sluice.jobs.Elsewhere;
import dev.sluice.jobs.JobAction;
import dev.sluice.jobs.JobExecutor;
import dev.sluice.jobs.JobObjects;
import dev.sluice.jobs.JobPatch;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.JobRules;
import dev.sluice.jobs.JobView;
import dev.sluice.jobs.Situation;
import dev.sluice.jobs.Standing;
import dev.sluice.jobs.Waiting;
import dev.sluice.jobs.pods.PodView;
import dev.sluice.workloads.Workload;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings one StatefulSet at a time, and its pods, to where they should be: looks, decides, acts.
 * For one set it must not be called by two threads at once; for different ones it may.
 */
public final class SetReconciler {

  private static final Logger LOG = LoggerFactory.getLogger(SetReconciler.class);
  private static final Duration SOON = Duration.ofMillis(200);
  private static final Duration UNTIL_SEEN = Duration.ofSeconds(1);
  private static final Duration LATER = Duration.ofSeconds(30);

  private final SetDecisions decisions;
  private final JobExecutor executor;
  private final Ancestry ancestry;
  private final Elsewhere elsewhere;
  private final SetWorkloads workloads;
  private final JobReconciler.Surroundings around;
  private final Semaphore writers;

  /**
   * For all StatefulSets.
   *
   * @param elsewhere which of them run in other clusters
   * @param writers how many may be written for at a time
   */
  public SetReconciler(
      JobRules rules,
      Ancestry ancestry,
      Elsewhere elsewhere,
      SetWorkloads workloads,
      JobReconciler.Surroundings around,
      int writers) {
    this.decisions = new SetDecisions(rules);
    this.executor = new JobExecutor(new StatefulSets(), around);
    this.ancestry = ancestry;
    this.elsewhere = elsewhere;
    this.workloads = workloads;
    this.around = around;
    this.writers = new Semaphore(writers);
  }

  /** The name of the Workload of a set. */
  String workloadOf(SetView set) {
    String sent = set.isSent() ? set.job().prebuiltWorkload() : "";
    return sent.isEmpty() ? workloads.name(set.job().ref().name(), set.uidOfOrigin()) : sent;
  }

  /**
   * Does what the set and its pods need now.
   *
   * @param pods those of the set that wait at their gates; others may be among them
   * @return after what time to look again even if nothing happens; empty if something will
   */
  Optional<Duration> reconcile(SetView set, List<PodView> pods) throws InterruptedException {
    if (executor.unseen(set.job())) {
      return Optional.of(UNTIL_SEEN);
    }
    Optional<Duration> again = workload(set);
    return again.isPresent() ? again : pods(set, pods);
  }

  /** The set is gone. */
  void forget(SetView set) {
    executor.forget(set.job().ref());
  }

  private Optional<Duration> workload(SetView set) throws InterruptedException {
    List<JobAction> actions = decide(set);
    if (actions.isEmpty()) {
      return Optional.empty();
    }
    writers.acquire();
    try {
      if (actions.getFirst() instanceof JobAction.DeleteWorkload) {
        Waiting.forResult(around.workloads().refresh(set.job().ref().namespace(), workloadOf(set)));
        actions = decide(set);
      }
      return executor.execute(set.job(), actions);
    } finally {
      writers.release();
    }
  }

  private List<JobAction> decide(SetView set) {
    String name = workloadOf(set);
    Situation situation =
        new Situation(
            set.job(),
            ancestry.standing(set.job()),
            List.of(),
            find(set, name),
            around.flavors(),
            around.priorities(),
            around.clock().instant());
    return decisions.decide(set, situation, name);
  }

  private Optional<Workload> find(SetView set, String name) {
    return workloads.store().get(set.job().ref().namespace(), name);
  }

  private Optional<Duration> pods(SetView set, List<PodView> pods) throws InterruptedException {
    if (!(ancestry.standing(set.job()) instanceof Standing.Own)) {
      return Optional.empty();
    }
    String name = workloadOf(set);
    boolean waitsHere =
        find(set, name)
            .filter(workload -> !workload.admitted() && !elsewhere.runs(set.job(), workload))
            .isPresent();
    Optional<Duration> again = Optional.empty();
    for (PodView pod : pods) {
      Optional<JobPatch> patch =
          SetPods.isOf(set, pod) ? SetPods.needed(set, name, waitsHere, pod) : Optional.empty();
      if (patch.isPresent()) {
        again = sooner(again, write(set, pod.job(), patch.get()));
      }
    }
    return again;
  }

  private static Optional<Duration> sooner(Optional<Duration> one, Optional<Duration> other) {
    return one.isPresent() && (other.isEmpty() || one.get().compareTo(other.get()) <= 0)
        ? one
        : other;
  }

  private Optional<Duration> write(SetView set, JobView pod, JobPatch patch)
      throws InterruptedException {
    writers.acquire();
    try {
      return switch (Waiting.forResult(around.objects().patch(pod.ref(), pod.version(), patch))) {
        case JobObjects.Outcome.Written written -> {
          LOG.info("job=\"{}\" pod={} joins its group or leaves it", set.job().ref(), pod.ref());
          yield Optional.empty();
        }
        case JobObjects.Outcome.Conflict conflict -> Optional.of(SOON);
        case JobObjects.Outcome.Gone gone -> Optional.empty();
        case JobObjects.Outcome.Refused refused -> {
          LOG.warn(
              "job=\"{}\" pod={} not written, reason=\"{}\"",
              set.job().ref(),
              pod.ref(),
              refused.message());
          yield Optional.of(LATER);
        }
      };
    } finally {
      writers.release();
    }
  }
}
