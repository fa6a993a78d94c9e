package dev.sluice.jobs.policy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.policy.JobAction.FinishWorkload;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Decides what happens to the slices of an elastic job before everything else that is decided for a
 * job (docs/elastic-jobs.md#slices): which slice is the job's Workload, which ones end, and what a
 * change of the size leads to. The rest of the job framework sees that one slice, and a job of the
 * size of that slice.
 */
public final class SlicePolicy {

  /** Reason of the condition {@code Finished} of a slice that a newer one has replaced. */
  public static final String REPLACED = "WorkloadSliceReplaced";

  private static final String OUT_OF_SYNC = "OutOfSync";

  /** How soon pods are looked for again that a smaller job doesn't need any more. */
  private static final Duration UNTIL_GONE = Duration.ofMillis(500);

  private final JobIntegration integration;
  private final JobOptions options;
  private final WorkloadFactory workloads;
  private final WorkloadSynchronizer synchronizer;

  SlicePolicy(JobIntegration integration, JobOptions options, WorkloadFactory workloads) {
    this.synchronizer = new WorkloadSynchronizer(options);
    this.integration = integration;
    this.options = options;
    this.workloads = workloads;
  }

  /**
   * What was decided.
   *
   * @param actions what has to be done before anything else; if there is anything, the rest is
   *     decided when it is observed
   * @param growth what is done for pods that the job has beyond its slice; the others don't wait
   *     for that
   * @param context what the rest of the job framework decides from
   */
  record Decision(List<JobAction> actions, List<JobAction> growth, ReconcileContext context) {

    Decision(List<JobAction> actions, ReconcileContext context) {
      this(actions, List.of(), context);
    }
  }

  /** Whether a job has slices. */
  boolean isElastic(CachedJob job) {
    return hasGatedPods(job)
        && job.prebuiltWorkload().isEmpty()
        && job.podSets().stream().allMatch(podSet -> podSet.minCount() == 0);
  }

  /** Whether the pods of a job wait for its gate to be opened. */
  private boolean hasGatedPods(CachedJob job) {
    return options.on(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES)
        && integration.canBeElastic()
        && job.isElastic();
  }

  /** What has to be done for the slices of a job; nothing for a job that is not elastic. */
  Decision decide(ReconcileContext context) {
    if (!isElastic(context.job())) {
      return ofManager(context).orElseGet(() -> new Decision(List.of(), context));
    }
    List<CachedWorkload> live = new ArrayList<>();
    List<CachedWorkload> others = new ArrayList<>();
    List<CachedWorkload> ended = new ArrayList<>();
    List<CachedWorkload> releases = new ArrayList<>();
    for (CachedWorkload workload : context.owned()) {
      if (workload.deleting()) {
        others.add(workload);
      } else if (!workload.finished()) {
        live.add(workload);
      } else if (isReplaced(workload)) {
        releases.add(workload);
      } else {
        ended.add(workload);
      }
    }
    if (!live.isEmpty()) {
      releases.addAll(ended);
    }
    List<JobAction> first = JobPolicy.releaseOwner(releases);
    if (!first.isEmpty()) {
      return new Decision(first, context);
    }
    if (live.isEmpty()) {
      others.addAll(ended);
      return new Decision(List.of(), sized(context.withOwned(others)));
    }
    return ofLive(context, live, others);
  }

  /**
   * A job that a manager cluster sent: its slices are the manager's, and the one that the job names
   * is its Workload. A slice that this one replaces ends. The job may have another size already; a
   * smaller one is given back when the pods are gone.
   */
  private Optional<Decision> ofManager(ReconcileContext context) {
    CachedJob job = context.job();
    if (!hasGatedPods(job) || job.prebuiltWorkload().isEmpty()) {
      return Optional.empty();
    }
    return context.owned().stream()
        .filter(slice -> slice.id().name().equals(job.prebuiltWorkload()) && !slice.deleting())
        .filter(slice -> slice.labels().containsKey(KueueConstants.MULTIKUEUE_ORIGIN))
        .findFirst()
        .map(current -> ofManager(context, current));
  }

  private Decision ofManager(ReconcileContext context, CachedWorkload current) {
    List<JobAction> first = new ArrayList<>();
    List<CachedWorkload> rest = new ArrayList<>();
    for (CachedWorkload workload : context.owned()) {
      boolean live = !workload.deleting() && !workload.finished();
      if (live && replaces(current, workload) && current.admitted()) {
        first.addAll(replaced(context, workload, current));
      } else if (workload.finished() && isReplaced(workload)) {
        first.addAll(JobPolicy.releaseOwner(List.of(workload)));
      } else if (workload == current || workload.deleting()) {
        rest.add(workload);
      }
    }
    ReconcileContext narrowed = sized(context.withOwned(rest));
    boolean shrinks =
        context.job().state().end().isEmpty()
            && current.admitted()
            && !current.evicted()
            && !current.finished()
            && hasSamePodSets(context.job(), current)
            && !counts(context.job()).equals(granted(current))
            && isWithin(counts(context.job()), granted(current));
    if (first.isEmpty() && current.admitted() && context.job().state().end().isEmpty()) {
      // the manager follows a job that scales itself by what it tells of its size
      first.addAll(sizeTold(context.job()));
    }
    if (first.isEmpty() && shrinks) {
      first.addAll(resize(context, current, Optional.empty()));
    }
    return new Decision(first, narrowed);
  }

  /** Opens the gates of the pods of a running job that its slice was granted. */
  List<JobAction> pods(ReconcileContext narrowed) {
    CachedJob job = narrowed.job();
    if (!hasGatedPods(job) || job.state().suspended() || job.state().end().isPresent()) {
      return List.of();
    }
    return narrowed.owned().stream()
        .filter(slice -> slice.admitted() && !slice.finished() && !slice.evicted())
        .filter(slice -> !slice.deleting())
        .<JobAction>map(JobAction.OpenGates::new)
        .toList();
  }

  /** Whether a finished slice ended without its job. */
  private static boolean isReplaced(CachedWorkload workload) {
    return workload
        .status()
        .condition("Finished")
        .filter(is -> is.reason().equals(REPLACED) || is.reason().equals(OUT_OF_SYNC))
        .isPresent();
  }

  private Decision ofLive(
      ReconcileContext context, List<CachedWorkload> live, List<CachedWorkload> others) {
    CachedWorkload current = current(live);
    Optional<CachedWorkload> replacement =
        live.stream()
            .filter(slice -> slice != current && replaces(slice, current))
            .max(BY_AGE)
            .filter(slice -> !slice.deleting());
    List<JobAction> first = new ArrayList<>();
    for (CachedWorkload slice : live) {
      if (slice != current && !slice.equals(replacement.orElse(null))) {
        first.addAll(
            replaces(current, slice) && current.quotaReserved()
                ? replaced(context, slice, current)
                : List.of(outOfSync(context, slice, "The job has a newer slice")));
      }
    }
    boolean hasEnded = context.job().state().end().isPresent();
    boolean outlived =
        !hasEnded
            && replacement.filter(slice -> isOutlived(context.job(), current, slice)).isPresent();
    if (outlived && hasStopped(context.job().state())) {
      first.addAll(replaced(context, current, replacement.orElseThrow()));
    } else if (!outlived
        && replacement.isPresent()
        && (hasEnded || mustGo(context, current, replacement.get()))) {
      first.add(outOfSync(context, replacement.get(), "The job goes on without this slice"));
    }
    if (!first.isEmpty()) {
      return new Decision(first, context);
    }
    others.add(current);
    ReconcileContext narrowed = sized(context.withOwned(others));
    boolean resizes =
        !hasEnded
            && context.managementStatus() instanceof ManagementStatus.Own
            && current.quotaReserved()
            && !current.evicted()
            && hasSamePodSets(context.job(), current);
    if (!resizes) {
      return new Decision(List.of(), narrowed);
    }
    List<JobAction> changes = annotated(context.job(), resize(context, current, replacement));
    return isWithin(counts(context.job()), granted(current))
        ? new Decision(changes, narrowed)
        : new Decision(List.of(), changes, narrowed);
  }

  private static final Comparator<CachedWorkload> BY_AGE =
      Comparator.comparing(CachedWorkload::createdAt)
          .thenComparing(workload -> workload.id().name());

  /**
   * The slice that the job runs with: an admitted one that replaced others, else one with quota
   * that replaced none of those with quota, else the oldest.
   */
  private static CachedWorkload current(List<CachedWorkload> live) {
    Predicate<CachedWorkload> admitted = CachedWorkload::admitted;
    return newest(live, admitted.and(slice -> !slice.evicted()))
        .or(() -> oldest(live, CachedWorkload::quotaReserved))
        .or(() -> oldest(live, slice -> true))
        .orElseThrow();
  }

  /**
   * Of some slices, the one that no other replaces. The time of creation can't tell: it has whole
   * seconds, and a job may be scaled more often.
   */
  private static Optional<CachedWorkload> newest(
      List<CachedWorkload> live, Predicate<CachedWorkload> which) {
    List<CachedWorkload> some = live.stream().filter(which).toList();
    return some.stream()
        .filter(slice -> some.stream().noneMatch(other -> replaces(other, slice)))
        .max(BY_AGE)
        .or(() -> some.stream().max(BY_AGE));
  }

  /** Of some slices, the one that replaces no other. */
  private static Optional<CachedWorkload> oldest(
      List<CachedWorkload> live, Predicate<CachedWorkload> which) {
    List<CachedWorkload> some = live.stream().filter(which).toList();
    return some.stream()
        .filter(slice -> some.stream().noneMatch(other -> replaces(slice, other)))
        .min(BY_AGE)
        .or(() -> some.stream().min(BY_AGE));
  }

  private static boolean replaces(CachedWorkload slice, CachedWorkload other) {
    return slice.replacedSlice().equals(other.id().name());
  }

  /**
   * Whether a slice is evicted whose replacement waits for quota: the job stops, and goes on
   * queueing in the size of the replacement. A job that was deactivated doesn't go on.
   */
  private static boolean isOutlived(
      CachedJob job, CachedWorkload current, CachedWorkload replacement) {
    return current.evicted()
        && current.spec().active()
        && !replacement.quotaReserved()
        && hasSamePodSets(job, current)
        && !isWithin(counts(job), granted(current));
  }

  private static boolean hasStopped(JobState state) {
    return state.suspended() && !state.active() && !state.stopUnfinished();
  }

  /**
   * Whether a replacement ends: the slice that it replaces has no quota or is being evicted, the
   * job has the size of that slice or less, or has outgrown a replacement that has quota.
   */
  private static boolean mustGo(
      ReconcileContext context, CachedWorkload current, CachedWorkload replacement) {
    CachedJob job = context.job();
    if (!current.quotaReserved() || current.evicted() || !hasSamePodSets(job, current)) {
      return true;
    }
    Map<String, Integer> wanted = counts(job);
    return isWithin(wanted, granted(current))
        || (replacement.quotaReserved() && !isWithin(wanted, granted(replacement)));
  }

  /** What a change of the size leads to; empty if the slices have the size of the job. */
  private List<JobAction> resize(
      ReconcileContext context, CachedWorkload current, Optional<CachedWorkload> replacement) {
    Map<String, Integer> wanted = counts(context.job());
    if (replacement.isPresent()) {
      CachedWorkload slice = replacement.get();
      return wanted.equals(granted(slice))
          ? synchronizer.synchronize(context, slice)
          : List.of(new JobAction.ResizeSlice(slice, wanted, false));
    }
    Map<String, Integer> has = granted(current);
    if (wanted.equals(has)) {
      return List.of();
    }
    if (isWithin(wanted, has)) {
      int left = wanted.values().stream().mapToInt(Integer::intValue).sum();
      if (options.clusterState().runningPods().applyAsInt(context.job().ref()) > left) {
        // Quota is given back when the pods are gone.
        return List.of(new JobAction.Requeue(UNTIL_GONE));
      }
      return List.of(
          reclaimed(context, current)
              .orElseGet(
                  () ->
                      new JobAction.ResizeSlice(
                          current, wanted, !context.job().state().suspended())));
    }
    return List.of(
        new JobAction.CreateSlice(
            current, workloads.sliceName(context.job(), context.owned()), wanted));
  }

  /**
   * The write that makes a slice need quota again for pods that have succeeded out of the range of
   * its smaller size. It comes before the size is changed: the other way round, the slice would be
   * charged for fewer pods than run.
   */
  private static Optional<JobAction> reclaimed(ReconcileContext context, CachedWorkload slice) {
    Map<String, Integer> known = slice.status().reclaimablePods();
    Map<String, Integer> now = new LinkedHashMap<>(known);
    now.replaceAll(
        (podSet, count) ->
            Math.min(count, context.job().state().reclaimable().getOrDefault(podSet, 0)));
    return now.equals(known)
        ? Optional.empty()
        : Optional.of(
            new JobAction.PatchStatus(
                slice, WorkloadStatuses.reclaimable(now), "reclaimable pods of a smaller size"));
  }

  /** With what the job is to tell of the size that its slices get. */
  private List<JobAction> annotated(CachedJob job, List<JobAction> changes) {
    if (changes.isEmpty()) {
      return changes;
    }
    List<JobAction> actions = new ArrayList<>(sizeTold(job));
    actions.addAll(changes);
    return actions;
  }

  /** The annotations by which a job tells its size, where they differ from those that it has. */
  private List<JobAction> sizeTold(CachedJob job) {
    Map<String, String> annotations =
        new LinkedHashMap<>(integration.sizeAnnotations(job.object()));
    annotations.entrySet().removeAll(job.annotations().entrySet());
    if (annotations.isEmpty()) {
      return List.of();
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    ObjectNode target = body.putObject("metadata").putObject("annotations");
    annotations.forEach(target::put);
    return List.of(new JobAction.Annotate(new JobPatch(false, body), "size"));
  }

  /** Whether job and slice have the same pod sets, whatever their size, with the same templates. */
  private static boolean hasSamePodSets(CachedJob job, CachedWorkload slice) {
    Set<String> names = new TreeSet<>(counts(job).keySet());
    return names.equals(granted(slice).keySet()) && job.podSets().size() == names.size();
  }

  private static boolean isWithin(Map<String, Integer> wanted, Map<String, Integer> has) {
    return wanted.entrySet().stream()
        .allMatch(pods -> pods.getValue() <= has.getOrDefault(pods.getKey(), -1));
  }

  private static Map<String, Integer> counts(CachedJob job) {
    Map<String, Integer> counts = new LinkedHashMap<>();
    job.podSets().forEach(podSet -> counts.put(podSet.name(), podSet.count()));
    return counts;
  }

  /** The pods that a slice has quota for, or waits for. */
  public static Map<String, Integer> granted(CachedWorkload slice) {
    Map<String, Integer> counts = new LinkedHashMap<>();
    slice.spec().podSets().forEach(podSet -> counts.put(podSet.name(), podSet.count()));
    slice
        .status()
        .admission()
        .filter(admission -> slice.quotaReserved())
        .ifPresent(
            admission ->
                admission
                    .podSetAssignments()
                    .forEach(
                        assignment ->
                            counts.computeIfPresent(
                                assignment.name(),
                                (name, count) -> Math.min(count, assignment.count()))));
    return counts;
  }

  /**
   * The job in the size of its slice, where that has quota: the rest of the job framework compares
   * what the job says with what it was admitted with.
   */
  private static ReconcileContext sized(ReconcileContext context) {
    CachedJob job = context.job();
    Optional<CachedWorkload> slice =
        context.owned().stream()
            .filter(workload -> !workload.deleting() && hasSamePodSets(job, workload))
            .filter(workload -> workload.quotaReserved() || workload.finished())
            .findFirst();
    if (slice.isEmpty()) {
      return context;
    }
    Map<String, Integer> granted = granted(slice.get());
    List<CachedJob.PodSet> podSets =
        job.podSets().stream()
            .map(podSet -> podSet.withCount(granted.getOrDefault(podSet.name(), podSet.count())))
            .toList();
    boolean ready =
        job.state().podsReady()
            || (!counts(job).equals(granted) && slice.get().status().isTrue("PodsReady"));
    return context.with(
        job.withPodSets(podSets)
            .withState(job.state().ofSlice(ready, counts(job).equals(granted))));
  }

  /** The end of a slice whose place another one took, which has run as long as the job has. */
  private static List<JobAction> replaced(
      ReconcileContext context, CachedWorkload slice, CachedWorkload by) {
    List<JobAction> actions = new ArrayList<>(2);
    Instant until =
        by.status()
            .trueCondition("Admitted")
            .map(CachedWorkload.Condition::lastTransitionTime)
            .orElse(context.now());
    long seconds = slice.executed(until).toSeconds();
    if (by.spec().maximumExecutionTimeSeconds() > 0
        && seconds > by.status().history().executionSeconds()) {
      actions.add(
          new JobAction.PatchStatus(
              by, WorkloadStatuses.executionTime(seconds), "execution time of its earlier slice"));
    }
    actions.add(finish(context, slice, REPLACED, "Slice " + by.id().name() + " took its place"));
    return actions;
  }

  private static FinishWorkload outOfSync(
      ReconcileContext context, CachedWorkload slice, String message) {
    return finish(context, slice, OUT_OF_SYNC, message);
  }

  private static FinishWorkload finish(
      ReconcileContext context, CachedWorkload slice, String reason, String message) {
    return new FinishWorkload(
        slice, WorkloadStatuses.finished(slice, reason, message, context.now()), reason, message);
  }
}
