package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Replays a history change by change and records every violation of a rule. Evaluates only quotas
 * of ClusterQueues without a cohort; a history with other ClusterQueues is reported as a violation.
 * Not thread-safe.
 */
public final class Auditor {

  private final List<Violation> violations = new ArrayList<>();
  private final Map<FlavorResourcePair, BigDecimal> quotas = new HashMap<>();
  private final QuotaLedger admitted = new QuotaLedger();
  private final QuotaLedger running = new QuotaLedger();
  private final Map<String, JobTimeline> jobs = new LinkedHashMap<>();
  private final Map<String, WorkloadState> workloads = new HashMap<>();
  private final Map<String, PodState> pods = new HashMap<>();
  private final Map<String, SliceLedger> slices = new HashMap<>();
  private final Map<String, QuotaLedger> open = new HashMap<>();
  private long changes;
  private long last;

  /** Last known state of a Workload. */
  private record WorkloadState(
      boolean evicted, Map<String, FlavorResourcePair> flavorResourcePairs) {}

  /** Last known state of a pod. */
  private record PodState(
      Map<FlavorResourcePair, BigDecimal> requests, boolean terminating, boolean ended) {}

  /** Audits a whole history, given in any order. */
  public static AuditReport audit(List<ObjectChange> history) {
    Auditor auditor = new Auditor();
    history.stream()
        .sorted((one, other) -> Long.compare(one.revision(), other.revision()))
        .forEach(auditor::accept);
    return auditor.report();
  }

  /** Processes the next change; revisions must increase. */
  public void accept(ObjectChange objectChange) {
    changes++;
    if (objectChange.revision() <= last) {
      violate(Rule.WHOLE_HISTORY, objectChange, "comes after revision " + last);
    }
    last = Math.max(last, objectChange.revision());
    switch (objectChange.kind()) {
      case CLUSTER_QUEUE -> clusterQueue(objectChange);
      case WORKLOAD -> workload(objectChange);
      case JOB -> job(objectChange);
      case POD -> pod(objectChange);
      case LOCAL_QUEUE, COHORT -> violate(Rule.WHOLE_HISTORY, objectChange, "is not judged here");
    }
  }

  /** The result so far. */
  public AuditReport report() {
    List<Violation> found = new ArrayList<>(violations);
    for (JobTimeline job : jobs.values()) {
      if (job.isQueued() && !job.completedWhole()) {
        found.add(
            new Violation(
                Rule.ONE_SET_OF_PODS,
                last,
                job.name(),
                "%d pods succeeded of a Job that is complete".formatted(job.record().succeeded())));
      }
    }
    return new AuditReport(
        changes,
        jobs.values().stream().filter(JobTimeline::isQueued).map(JobTimeline::record).toList(),
        admitted.peaks(),
        quotas,
        found);
  }

  private void clusterQueue(ObjectChange objectChange) {
    String name = ObjectReader.name(objectChange.object());
    quotas.keySet().removeIf(flavorResourcePair -> flavorResourcePair.clusterQueue().equals(name));
    if (objectChange.deleted()) {
      return;
    }
    quotas.putAll(ObjectReader.quotas(objectChange.object()));
    if (!objectChange.object().path("spec").path("cohortName").asText().isEmpty()) {
      violate(Rule.WHOLE_HISTORY, objectChange, "it is in a cohort, which is not judged here");
    }
  }

  private void workload(ObjectChange objectChange) {
    JsonNode workload = objectChange.object();
    String uid = ObjectReader.uid(workload);
    String jobUid = ObjectReader.controllingJob(workload);
    JobTimeline job = of(jobUid);
    Map<FlavorResourcePair, BigDecimal> held =
        objectChange.deleted() ? Map.of() : ObjectReader.held(workload);
    boolean isSlice = ObjectReader.isSlice(workload) && !jobUid.isEmpty();
    if (isSlice) {
      SliceLedger ledger = slices.computeIfAbsent(jobUid, key -> new SliceLedger());
      ledger.set(workload, held);
      held = ledger.held();
    }
    admitted.set(
        isSlice ? jobUid : uid,
        held,
        (flavorResourcePair, sum) ->
            within(Rule.QUOTA_KEPT, flavorResourcePair, sum, objectChange, "held by Workloads"));

    boolean live = !objectChange.deleted() && !ObjectReader.isTrue(workload, "Finished");
    boolean evicted = ObjectReader.isTrue(workload, "Evicted");
    WorkloadState before = workloads.get(uid);
    if (evicted && (before == null || !before.evicted())) {
      job.evicted();
    }
    workloads.put(uid, new WorkloadState(evicted, ObjectReader.pairs(workload)));
    if (isSlice && !ObjectReader.pairs(workload).isEmpty()) {
      workloads.put(jobUid, new WorkloadState(evicted, ObjectReader.pairs(workload)));
    }
    if (isSlice) {
      job.claimForSlices(jobUid);
      withinSlices(jobUid, objectChange);
    } else if (live && !job.claim(uid)) {
      violate(Rule.ONE_WORKLOAD, objectChange, "the Job " + job.name() + " has another one");
    }
    if (!live && !isSlice) {
      job.release(uid);
    }
    if (!holds(job) && job.runs()) {
      violate(Rule.HELD_UNTIL_ADMITTED, objectChange, "the Job " + job.name() + " still runs");
    }
  }

  private void job(ObjectChange objectChange) {
    JobTimeline job = of(ObjectReader.uid(objectChange.object()));
    job.observe(objectChange);
    if (!job.isQueued()) {
      return;
    }
    if (job.runs() && !holds(job)) {
      violate(Rule.HELD_UNTIL_ADMITTED, objectChange, "spec.suspend is false");
    }
    if (job.starts() > 1 + job.evictions()) {
      violate(
          Rule.STARTED_ONCE,
          objectChange,
          "%d starts, %d evictions".formatted(job.starts(), job.evictions()));
    }
    if (job.templateTouched()) {
      violate(Rule.TEMPLATE_KEPT, objectChange, "spec.template");
    }
  }

  private void pod(ObjectChange objectChange) {
    JsonNode pod = objectChange.object();
    String uid = ObjectReader.uid(pod);
    PodState before = pods.get(uid);
    JobTimeline job = of(ObjectReader.controllingJob(pod));
    if (!job.isQueued()) {
      return;
    }
    PodState file = before == null ? created(objectChange, job) : before;
    boolean terminating = file.terminating() || pod.path("metadata").has("deletionTimestamp");
    boolean ended = file.ended() || objectChange.deleted() || ObjectReader.hasEnded(pod);
    if (!file.terminating() && terminating && !file.ended() && !ObjectReader.hasEnded(pod)) {
      job.podTerminating();
    }
    if (!file.ended() && ended) {
      job.podEnded(pod.path("status").path("phase").asText(), file.terminating());
    }
    file = new PodState(file.requests(), terminating, ended);
    pods.put(uid, file);
    boolean runs = !file.ended() && !ObjectReader.isGated(pod);
    String jobUid = ObjectReader.controllingJob(pod);
    if (slices.containsKey(jobUid)) {
      open.computeIfAbsent(jobUid, key -> new QuotaLedger())
          .set(uid, runs ? file.requests() : Map.of(), (pair, sum) -> {});
      withinSlices(jobUid, objectChange);
    }
    running.set(
        uid,
        runs ? file.requests() : Map.of(),
        (flavorResourcePair, sum) ->
            within(
                Rule.PODS_WITHIN_QUOTA,
                flavorResourcePair,
                sum,
                objectChange,
                "requested by pods"));
  }

  private PodState created(ObjectChange objectChange, JobTimeline job) {
    if (!holds(job) && !job.isLeaving()) {
      violate(Rule.NO_POD_BEFORE_ADMISSION, objectChange, "of the Job " + job.name());
    }
    job.podMade();
    boolean oneTooMany = job.podsMade() > job.podsAllowed();
    if (oneTooMany) {
      violate(
          Rule.ONE_SET_OF_PODS,
          objectChange,
          "pod %d of the Job %s, which may have %d"
              .formatted(job.podsMade(), job.name(), job.podsAllowed()));
    }
    WorkloadState workload = workloads.get(job.workload());
    Map<String, FlavorResourcePair> flavorResourcePairs =
        workload == null ? Map.of() : workload.flavorResourcePairs();
    // a pod in excess is a violation of its own; its requests are not counted against the quota as
    // well
    return new PodState(
        oneTooMany ? Map.of() : ObjectReader.requests(objectChange.object(), flavorResourcePairs),
        false,
        false);
  }

  /** The timeline of a Job; a new, unregistered timeline for objects without a Job. */
  private JobTimeline of(String uid) {
    return uid.isEmpty() ? new JobTimeline() : jobs.computeIfAbsent(uid, key -> new JobTimeline());
  }

  /** Compares the open pods of an elastic Job with what its slices hold. */
  private void withinSlices(String jobUid, ObjectChange objectChange) {
    Map<FlavorResourcePair, BigDecimal> held =
        slices.computeIfAbsent(jobUid, key -> new SliceLedger()).held();
    QuotaLedger pods = open.get(jobUid);
    if (pods == null) {
      return;
    }
    pods.sums()
        .forEach(
            (pair, sum) -> {
              BigDecimal quota = held.getOrDefault(pair, BigDecimal.ZERO);
              if (sum.compareTo(quota) > 0 && !of(jobUid).isLeaving()) {
                violate(
                    Rule.PODS_WITHIN_SLICES,
                    objectChange,
                    "%s: %s requested by open pods, %s held"
                        .formatted(
                            pair,
                            sum.stripTrailingZeros().toPlainString(),
                            quota.stripTrailingZeros().toPlainString()));
              }
            });
  }

  private boolean holds(JobTimeline job) {
    return admitted.holds(job.workload());
  }

  private void within(
      Rule rule,
      FlavorResourcePair flavorResourcePair,
      BigDecimal sum,
      ObjectChange objectChange,
      String how) {
    BigDecimal quota = quotas.getOrDefault(flavorResourcePair, BigDecimal.ZERO);
    if (sum.compareTo(quota) > 0) {
      violate(
          rule,
          objectChange,
          "%s: %s %s of %s"
              .formatted(
                  flavorResourcePair,
                  sum.stripTrailingZeros().toPlainString(),
                  how,
                  quota.stripTrailingZeros().toPlainString()));
    }
  }

  private void violate(Rule rule, ObjectChange objectChange, String detail) {
    violations.add(
        new Violation(
            rule, objectChange.revision(), ObjectReader.name(objectChange.object()), detail));
  }

  /**
   * What the slices of one elastic job hold, by their names: a slice and the one that it replaces
   * hold what the larger one needs, in each pair (docs/elastic-jobs.md#what-the-engine-charges).
   */
  private static final class SliceLedger {

    private record Slice(String replaces, Map<FlavorResourcePair, BigDecimal> held) {}

    private final Map<String, Slice> slices = new HashMap<>();

    /** Sets what a slice holds; an empty map releases it. */
    void set(JsonNode workload, Map<FlavorResourcePair, BigDecimal> held) {
      String name = ObjectReader.name(workload);
      if (held.isEmpty()) {
        slices.remove(name);
      } else {
        slices.put(name, new Slice(ObjectReader.replacedSlice(workload), held));
      }
    }

    /** What all slices of the job hold together. */
    Map<FlavorResourcePair, BigDecimal> held() {
      Map<FlavorResourcePair, BigDecimal> sum = new HashMap<>();
      for (Slice slice : slices.values()) {
        Slice replaced = slices.get(slice.replaces());
        slice
            .held()
            .forEach(
                (pair, amount) -> {
                  BigDecimal shared =
                      replaced == null
                          ? BigDecimal.ZERO
                          : replaced.held().getOrDefault(pair, BigDecimal.ZERO);
                  sum.merge(pair, amount.subtract(shared).max(BigDecimal.ZERO), BigDecimal::add);
                });
      }
      return sum;
    }
  }

  /** Amounts held by each holder, their sums, and the peak of each sum. */
  private static final class QuotaLedger {

    /** Callback for a sum that increased. */
    interface Growth {
      void grew(FlavorResourcePair flavorResourcePair, BigDecimal sum);
    }

    private final Map<String, Map<FlavorResourcePair, BigDecimal>> byHolder = new HashMap<>();
    private final Map<FlavorResourcePair, BigDecimal> sums = new HashMap<>();
    private final Map<FlavorResourcePair, BigDecimal> peaks = new HashMap<>();

    /** Sets the amounts of a holder; an empty map releases them. */
    void set(String holder, Map<FlavorResourcePair, BigDecimal> held, Growth growth) {
      Map<FlavorResourcePair, BigDecimal> before =
          held.isEmpty() ? byHolder.remove(holder) : byHolder.put(holder, held);
      Map<FlavorResourcePair, BigDecimal> change = new HashMap<>(held);
      if (before != null) {
        before.forEach(
            (flavorResourcePair, amount) ->
                change.merge(flavorResourcePair, amount.negate(), BigDecimal::add));
      }
      change.forEach(
          (flavorResourcePair, amount) -> {
            BigDecimal sum = sums.merge(flavorResourcePair, amount, BigDecimal::add);
            if (amount.signum() > 0) {
              peaks.merge(flavorResourcePair, sum, BigDecimal::max);
              growth.grew(flavorResourcePair, sum);
            }
          });
    }

    Map<FlavorResourcePair, BigDecimal> sums() {
      return Map.copyOf(sums);
    }

    boolean holds(String holder) {
      return byHolder.containsKey(holder);
    }

    Map<FlavorResourcePair, BigDecimal> peaks() {
      return Map.copyOf(peaks);
    }
  }
}
