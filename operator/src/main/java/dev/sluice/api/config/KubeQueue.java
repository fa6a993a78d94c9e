package dev.sluice.api.config;

import dev.sluice.core.model.QueueRules.AttemptBackoff;
import java.time.Duration;
import java.util.Set;

/**
 * Queues from the quotas of Kube Queue: what is read, and what follows from it.
 *
 * @param enabled whether any of it is read; all other fields have no effect without it
 * @param sources the kinds of objects that queues are made from
 * @param namespace the namespace of Queue objects
 * @param oversellRate how many times each limit may be used; at least 1
 * @param policy how queues are served that no Queue object says it for
 * @param starts how long Workloads may take to run, and how long they pause
 * @param jobs how jobs without a queue name come to a queue
 * @param units what QueueUnits are for
 */
public record KubeQueue(
    boolean enabled,
    Set<Source> sources,
    String namespace,
    double oversellRate,
    Policy policy,
    Starts starts,
    Jobs jobs,
    Units units) {

  /** Keeps a copy of the set. */
  public KubeQueue {
    sources = Set.copyOf(sources);
  }

  /**
   * How long Workloads may take to run, and how long they pause.
   *
   * @param timeout how long an admitted Workload may take to run; zero: unlimited
   * @param backoff the pause after that time has passed
   * @param attempts the pauses between attempts; with {@link Policy#BLOCK} there are none
   */
  public record Starts(Duration timeout, Duration backoff, AttemptBackoff attempts) {}

  /**
   * How jobs without a queue name come to a queue.
   *
   * @param intake which of them are queued
   * @param quotaLabel from which namespaces a job may name a quota by label
   */
  public record Jobs(Intake intake, QuotaLabel quotaLabel) {}

  /**
   * What QueueUnits are for.
   *
   * @param own whether a QueueUnit shows each Workload
   * @param foreign whether QueueUnits that others make are queued
   */
  public record Units(OwnUnits own, ForeignUnits foreign) {}

  /** A kind of objects that queues are made from. */
  public enum Source {
    /** The tree in {@code kube-system}. */
    ELASTIC_QUOTA_TREE,
    /** ElasticQuotas of Koordinator and of the scheduler plugins. */
    ELASTIC_QUOTA,
    /** ResourceQuotas of namespaces that have a Queue, and those with an annotation. */
    RESOURCE_QUOTA,
    /** All ResourceQuotas without an annotation that says otherwise. */
    PLAIN_RESOURCE_QUOTA
  }

  /** How a queue is served. */
  public enum Policy {
    /** Each in turn; one that was refused pauses. */
    ROUND("RoundRobin"),
    /** Only the first, until it is admitted. */
    BLOCK("StrictFIFO"),
    /** Each in turn; a release begins with the first again. */
    STRICT_PRIORITY("StrictPriority");

    private final String strategy;

    Policy(String strategy) {
      this.strategy = strategy;
    }

    /** The queueing strategy of a ClusterQueue that is served so. */
    public String strategy() {
      return strategy;
    }
  }

  /** Which jobs without a queue name are queued. */
  public enum Intake {
    /** Those that were created suspended and never started. */
    SUSPENDED_ONLY,
    /** All, in the namespaces that have a quota. */
    ALL
  }

  /** Whether a QueueUnit shows each Workload. */
  public enum OwnUnits {
    /** It does. */
    MIRROR,
    /** There are none. */
    OFF
  }

  /** What happens to QueueUnits that others make. */
  public enum ForeignUnits {
    /** They are queued. */
    ACCEPT,
    /** They are left alone. */
    IGNORE
  }

  /** From which namespaces a job may name a quota by label. */
  public enum QuotaLabel {
    /** From those that the quota lists. */
    LISTED,
    /** From all. */
    ANYWHERE
  }
}
