package dev.sluice.jobs.policy;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.FeatureGates;
import dev.sluice.api.queueing.PreemptibleLabels;
import dev.sluice.api.queueing.StartRules;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.policy.CachedJob.UnjudgedUse;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadNames;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * The part of the configuration that jobs are handled by.
 *
 * @param gates which feature gates are on
 * @param manageJobsWithoutQueueName whether jobs that name no queue are taken over too
 * @param managedNamespaces the namespaces whose jobs are handled at all, by name
 * @param copied what a Workload takes from its job because the configuration says so
 * @param readiness whether the pods of admitted jobs are waited for
 * @param afterDeactivated how long a job is kept whose Workload the operator deactivated; empty:
 *     forever
 * @param admittedRequests compares a pod with what its pod set was admitted with
 * @param clusterState what the cluster says at any moment
 */
public record JobOptions(
    FeatureGates gates,
    boolean manageJobsWithoutQueueName,
    Predicate<String> managedNamespaces,
    CopiedKeys copied,
    Readiness readiness,
    Optional<Duration> afterDeactivated,
    AdmittedRequests admittedRequests,
    ClusterState clusterState) {

  /**
   * What a Workload takes from its job because the configuration says so.
   *
   * @param labels keys of labels
   * @param annotations keys of annotations
   */
  public record CopiedKeys(List<String> labels, List<String> annotations) {

    /** Nothing but what every Workload takes. */
    public static final CopiedKeys NONE = new CopiedKeys(List.of(), List.of());

    /** Keeps copies of the lists. */
    public CopiedKeys {
      labels = List.copyOf(labels);
      annotations = List.copyOf(annotations);
    }
  }

  /**
   * Whether the pods of admitted jobs are waited for.
   *
   * @param awaited whether the configuration says that somebody waits for them to be ready
   * @param quickStart how long after admission nobody waits for the pods in particular, so that
   *     readiness may be told together with the next write; zero: somebody always waits
   */
  public record Readiness(boolean awaited, Duration quickStart) {

    /** Nobody waits for pods. */
    public static final Readiness NOT_AWAITED = new Readiness(false, Duration.ZERO);
  }

  /**
   * What the cluster says at any moment.
   *
   * @param startRules what the ClusterQueue of a Workload says about starts
   * @param selectedLabels labels by which ClusterQueues select the Workloads that need a check; a
   *     Workload takes them from its job, too
   * @param runningPods how many pods of a job run, whatever its status says; 0 if nobody counts
   *     them
   * @param prevents whether no pod may run for a moment without quota: then rollouts wait for it
   * @param maxRunTime how long jobs of a LocalQueue may run, by namespace and name; empty: as long
   *     as they say
   * @param jobUid the UID that the Workload of a job has as label {@code job-uid}
   * @param podGroups the version in which the API server serves PodGroups of kube-scheduler; empty
   *     if it serves none
   * @param unjudged what jobs may use whose makers no webhook judges
   */
  public record ClusterState(
      Function<CachedWorkload, StartRules> startRules,
      Supplier<Set<String>> selectedLabels,
      ToIntFunction<JobRef> runningPods,
      boolean prevents,
      BiFunction<String, String, Optional<Duration>> maxRunTime,
      Function<CachedJob, String> jobUid,
      Supplier<Optional<String>> podGroups,
      UnjudgedUse unjudged) {

    /** Where a Workload has the UID of its own job, and nobody serves PodGroups. */
    public ClusterState(
        Function<CachedWorkload, StartRules> startRules,
        Supplier<Set<String>> selectedLabels,
        ToIntFunction<JobRef> runningPods,
        boolean prevents,
        BiFunction<String, String, Optional<Duration>> maxRunTime) {
      this(
          startRules,
          selectedLabels,
          runningPods,
          prevents,
          maxRunTime,
          job -> job.ref().uid(),
          Optional::empty,
          UnjudgedUse.ANY);
    }

    /** The same, with other UIDs. */
    public ClusterState with(Function<CachedJob, String> otherUid) {
      return new ClusterState(
          startRules,
          selectedLabels,
          runningPods,
          prevents,
          maxRunTime,
          otherUid,
          podGroups,
          unjudged);
    }

    /** The same where PodGroups may be served. */
    public ClusterState withPodGroups(Supplier<Optional<String>> version) {
      return new ClusterState(
          startRules, selectedLabels, runningPods, prevents, maxRunTime, jobUid, version, unjudged);
    }

    /** The same, but this is all that jobs may use whose makers nobody judges. */
    public ClusterState with(UnjudgedUse use) {
      return new ClusterState(
          startRules, selectedLabels, runningPods, prevents, maxRunTime, jobUid, podGroups, use);
    }

    /** Queues say nothing about starts and run times, select no labels, and nobody counts pods. */
    public static final ClusterState NONE =
        new ClusterState(
            workload -> StartRules.NONE,
            Set::of,
            job -> 0,
            false,
            (namespace, localQueue) -> Optional.empty());
  }

  /** The rules of a configuration that says nothing, for an operator in the given namespace. */
  public static JobOptions defaults(String operatorNamespace) {
    Set<String> spared = Set.of("kube-system", operatorNamespace);
    return new JobOptions(
        FeatureGates.DEFAULT,
        false,
        namespace -> !spared.contains(namespace),
        CopiedKeys.NONE,
        Readiness.NOT_AWAITED,
        Optional.empty(),
        AdmittedRequests.PLAIN,
        ClusterState.NONE);
  }

  /** The same options in a cluster of which this is known. */
  public JobOptions with(ClusterState state) {
    return new JobOptions(
        gates,
        manageJobsWithoutQueueName,
        managedNamespaces,
        copied,
        readiness,
        afterDeactivated,
        admittedRequests,
        state);
  }

  /** The same options, but this gate on or off as given. */
  public JobOptions with(FeatureGate gate, boolean enabled) {
    return new JobOptions(
        gates.with(gate, enabled),
        manageJobsWithoutQueueName,
        managedNamespaces,
        copied,
        readiness,
        afterDeactivated,
        admittedRequests,
        clusterState);
  }

  /** Whether a feature gate is on. */
  public boolean on(FeatureGate gate) {
    return gates.enabled(gate);
  }

  /** Whether somebody waits for the pods of this Workload to be ready. */
  public boolean podsReady(CachedWorkload workload) {
    return readiness.awaited() || clusterState.startRules().apply(workload).awaitPods();
  }

  /**
   * How many seconds a job may run: what it says, and no more than its queue allows
   * (docs/run-times.md#queues). 0 without limit.
   */
  int maximumExecutionTimeSeconds(CachedJob job) {
    int own = job.maximumExecutionTimeSeconds();
    int most = longestIn(job.ref().namespace(), job.queueName());
    return own == 0 || most == 0 ? Math.max(own, most) : Math.min(own, most);
  }

  /** How many seconds jobs may run in a LocalQueue. 0 without limit. */
  int longestIn(String namespace, String localQueue) {
    return localQueue.isEmpty()
        ? 0
        : clusterState
            .maxRunTime()
            .apply(namespace, localQueue)
            .map(most -> (int) most.toSeconds())
            .orElse(0);
  }

  /** How long the name of a Workload may become. */
  public int longestWorkloadName() {
    return on(FeatureGate.SHORT_WORKLOAD_NAMES) ? WorkloadNames.SHORT : WorkloadNames.LONGEST;
  }

  /** The labels that a Workload takes from its job: the configured ones, and those that we read. */
  public List<String> copiedLabels() {
    return Stream.concat(copied.labels().stream(), PreemptibleLabels.KEYS.stream()).toList();
  }
}
