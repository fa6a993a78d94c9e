package dev.sluice.jobs.policy;

import dev.sluice.api.queueing.PreemptibleLabels;
import dev.sluice.api.queueing.StartRules;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * The part of the configuration that jobs are handled by.
 *
 * @param manageJobsWithoutQueueName whether jobs that name no queue are taken over too
 * @param managedNamespaces the namespaces whose jobs are handled at all, by name
 * @param labelKeysToCopy labels that a Workload takes from its job
 * @param longestWorkloadName how long the name of a Workload may become
 * @param queueLabelsOnPods whether started pods carry the names of their queues (gate
 *     AssignQueueLabelsForPods)
 * @param workloadAnnotationOnPods whether started pods carry the name of their Workload (gate
 *     TopologyAwareScheduling)
 * @param podsReady whether somebody waits for the pods of admitted jobs to be ready
 * @param afterDeactivated how long a job is kept whose Workload the operator deactivated; empty:
 *     forever
 * @param partialAdmission whether a job may start with fewer pods (gate PartialAdmission)
 * @param reclaimablePods whether quota that a job no longer needs is given back while it runs (gate
 *     ReclaimablePods)
 * @param identifierAnnotations whether the operator names Workloads and groups of pods by
 *     annotations, else by labels (gate WorkloadIdentifierAnnotations)
 * @param admittedRequests compares a pod with what its pod set was admitted with
 * @param quotaForCleanup whether a job that is being deleted keeps its quota while it cleans up
 *     (gate DeferRayServiceFinalizationForRedisCleanup)
 * @param elasticJobs whether the size of running jobs may change (gate
 *     ElasticJobsViaWorkloadSlices)
 * @param startRules what the ClusterQueue of a Workload says about starts
 * @param quickStart how long after admission nobody waits for the pods in particular, so that
 *     readiness may be told together with the next write; zero: somebody always waits
 * @param requeuesPodWorkloads whether an evicted Workload that one pod owns is requeued like others
 *     (gate SkipReassignmentForPodOwnedWorkloads is off)
 * @param selectedLabels labels by which ClusterQueues select the Workloads that need a check; a
 *     Workload takes them from its job, too
 * @param runningPods how many pods of a job run, whatever its status says; 0 if nobody counts them
 */
public record JobOptions(
    boolean manageJobsWithoutQueueName,
    Predicate<String> managedNamespaces,
    List<String> labelKeysToCopy,
    int longestWorkloadName,
    boolean queueLabelsOnPods,
    boolean workloadAnnotationOnPods,
    boolean podsReady,
    Optional<Duration> afterDeactivated,
    boolean partialAdmission,
    boolean reclaimablePods,
    boolean identifierAnnotations,
    AdmittedRequests admittedRequests,
    boolean quotaForCleanup,
    boolean elasticJobs,
    Function<CachedWorkload, StartRules> startRules,
    Duration quickStart,
    boolean requeuesPodWorkloads,
    Supplier<Set<String>> selectedLabels,
    ToIntFunction<JobRef> runningPods) {

  public JobOptions {
    labelKeysToCopy = List.copyOf(labelKeysToCopy);
  }

  /** Options of a configuration whose queues say nothing about starts. */
  public JobOptions(
      boolean manageJobsWithoutQueueName,
      Predicate<String> managedNamespaces,
      List<String> labelKeysToCopy,
      int longestWorkloadName,
      boolean queueLabelsOnPods,
      boolean workloadAnnotationOnPods,
      boolean podsReady,
      Optional<Duration> afterDeactivated,
      boolean partialAdmission,
      boolean reclaimablePods,
      boolean identifierAnnotations,
      AdmittedRequests admittedRequests,
      boolean quotaForCleanup,
      boolean elasticJobs) {
    this(
        manageJobsWithoutQueueName,
        managedNamespaces,
        labelKeysToCopy,
        longestWorkloadName,
        queueLabelsOnPods,
        workloadAnnotationOnPods,
        podsReady,
        afterDeactivated,
        partialAdmission,
        reclaimablePods,
        identifierAnnotations,
        admittedRequests,
        quotaForCleanup,
        elasticJobs,
        workload -> StartRules.NONE,
        Duration.ZERO,
        false,
        Set::of,
        job -> 0);
  }

  /** The same options, where queues have rules about starts, and select Workloads by labels. */
  public JobOptions withQueueRules(
      Function<CachedWorkload, StartRules> rules, Supplier<Set<String>> labels) {
    return with(rules, quickStart, requeuesPodWorkloads, labels, runningPods);
  }

  /** The same options with another time in which readiness may be told later. */
  public JobOptions withQuickStart(Duration time) {
    return with(startRules, time, requeuesPodWorkloads, selectedLabels, runningPods);
  }

  /** The same options with another rule for evicted Workloads that one pod owns. */
  public JobOptions withPodWorkloadsRequeued(boolean requeued) {
    return with(startRules, quickStart, requeued, selectedLabels, runningPods);
  }

  /** The same options, where pods are counted. */
  public JobOptions withPods(ToIntFunction<JobRef> running) {
    return with(startRules, quickStart, requeuesPodWorkloads, selectedLabels, running);
  }

  private JobOptions with(
      Function<CachedWorkload, StartRules> rules,
      Duration time,
      boolean podWorkloads,
      Supplier<Set<String>> labels,
      ToIntFunction<JobRef> running) {
    return new JobOptions(
        manageJobsWithoutQueueName,
        managedNamespaces,
        labelKeysToCopy,
        longestWorkloadName,
        queueLabelsOnPods,
        workloadAnnotationOnPods,
        podsReady,
        afterDeactivated,
        partialAdmission,
        reclaimablePods,
        identifierAnnotations,
        admittedRequests,
        quotaForCleanup,
        elasticJobs,
        rules,
        time,
        podWorkloads,
        labels,
        running);
  }

  /** Whether somebody waits for the pods of this Workload to be ready. */
  public boolean podsReady(CachedWorkload workload) {
    return podsReady || startRules.apply(workload).awaitPods();
  }

  /** The labels that a Workload takes from its job: the configured ones, and those that we read. */
  public List<String> copiedLabels() {
    return Stream.concat(labelKeysToCopy.stream(), PreemptibleLabels.KEYS.stream()).toList();
  }

  /** The same, where jobs that clean up keep their quota, and jobs may be elastic. */
  public JobOptions(
      boolean manageJobsWithoutQueueName,
      Predicate<String> managedNamespaces,
      List<String> labelKeysToCopy,
      int longestWorkloadName,
      boolean queueLabelsOnPods,
      boolean workloadAnnotationOnPods,
      boolean podsReady,
      Optional<Duration> afterDeactivated,
      boolean partialAdmission,
      boolean reclaimablePods,
      boolean identifierAnnotations,
      AdmittedRequests admittedRequests) {
    this(
        manageJobsWithoutQueueName,
        managedNamespaces,
        labelKeysToCopy,
        longestWorkloadName,
        queueLabelsOnPods,
        workloadAnnotationOnPods,
        podsReady,
        afterDeactivated,
        partialAdmission,
        reclaimablePods,
        identifierAnnotations,
        admittedRequests,
        true,
        true);
  }

  /** The rules of a configuration that says nothing, for an operator in the given namespace. */
  public static JobOptions defaults(String operatorNamespace) {
    Set<String> spared = Set.of("kube-system", operatorNamespace);
    return new JobOptions(
        false,
        namespace -> !spared.contains(namespace),
        List.of(),
        WorkloadNames.LONGEST,
        true,
        true,
        false,
        Optional.empty(),
        true,
        true,
        true,
        AdmittedRequests.PLAIN);
  }
}
