package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.lab.audit.AuditReport.JobRecord;
import dev.sluice.lab.audit.AuditReport.Rule;
import dev.sluice.lab.audit.AuditReport.Violation;
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

  /** State of one Job during the replay, with counts of its starts, evictions and pods. */
  private static final class JobTimeline {

    private String name = "";
    private boolean queued;
    private boolean runs;
    private int completions;
    private String end = "";
    private JsonNode template = MissingNode.getInstance();
    private boolean templateTouched;
    private int starts;
    private int evictions;
    private int podsMade;
    private int podsSucceeded;
    private int podsSucceededWhileTerminating;
    private int podsLost;
    private String workload = "";

    /** Processes a change of the Job. */
    void observe(ObjectChange objectChange) {
      JsonNode job = objectChange.object();
      boolean ran = runs;
      boolean suspended = job.path("spec").path("suspend").asBoolean();
      name = ObjectReader.name(job);
      queued = ObjectReader.isQueued(job);
      completions = job.path("spec").path("completions").asInt(Integer.MAX_VALUE);
      end = ObjectReader.end(job);
      boolean leaving = objectChange.deleted() || job.path("metadata").has("deletionTimestamp");
      if (end.isEmpty() && leaving) {
        end = "Deleted";
      }
      runs = !suspended && end.isEmpty();
      if (runs && !ran) {
        starts++;
      }
      observe(job.path("spec").path("template"), ran);
    }

    /**
     * Tracks changes of the template, which are allowed when the Job starts and after it was
     * stopped.
     */
    private void observe(JsonNode current, boolean ran) {
      boolean mayChange = template.isMissingNode() || ran != runs || (!runs && starts > 0);
      templateTouched = !mayChange && !template.equals(current);
      template = current;
    }

    void evicted() {
      evictions++;
    }

    /** Records the Job's Workload; false if the Job has another one. */
    boolean claim(String workloadUid) {
      boolean free = workload.isEmpty() || workload.equals(workloadUid);
      if (free) {
        workload = workloadUid;
      }
      return free;
    }

    /** Records that the Job has slices; all of them together stand for its Workload. */
    void claimForSlices(String holder) {
      workload = holder;
    }

    void release(String workloadUid) {
      if (workload.equals(workloadUid)) {
        workload = "";
      }
    }

    void podMade() {
      podsMade++;
    }

    /**
     * A pod that has not ended is being deleted: the Job controller counts it as failed from now on
     * and may replace it (pod replacement policy {@code TerminatingOrFailed}).
     */
    void podTerminating() {
      podsLost++;
    }

    /**
     * A pod has ended. One that succeeds while it is being deleted may count either way: it depends
     * on which of its changes the Job controller observed first.
     */
    void podEnded(String phase, boolean terminating) {
      boolean succeeded = phase.equals("Succeeded");
      if (succeeded && terminating) {
        podsSucceededWhileTerminating++;
      } else if (succeeded) {
        podsSucceeded++;
      } else if (!terminating) {
        podsLost++;
      }
    }

    String name() {
      return name;
    }

    boolean isQueued() {
      return queued;
    }

    /** Whether the Job is unsuspended and has not ended. */
    boolean runs() {
      return runs;
    }

    int starts() {
      return starts;
    }

    int evictions() {
      return evictions;
    }

    boolean templateTouched() {
      return templateTouched;
    }

    /**
     * Whether the Job is being deleted: until the Job controller has observed the deletion, it may
     * still create pods, which are deleted with the Job.
     */
    boolean isLeaving() {
      return end.equals("Deleted");
    }

    /** The uid of its Workload; empty without one. */
    String workload() {
      return workload;
    }

    int podsMade() {
      return podsMade;
    }

    /** The number of pods it may have: its completions, plus one per lost pod. */
    int podsAllowed() {
      return completions == Integer.MAX_VALUE ? completions : completions + podsLost;
    }

    /** Whether it completed with exactly the requested number of pods. */
    boolean completedWhole() {
      return !end.equals("Complete")
          || completions == Integer.MAX_VALUE
          || (podsSucceeded <= completions
              && podsSucceeded + podsSucceededWhileTerminating >= completions);
    }

    JobRecord record() {
      return new JobRecord(name, starts, evictions, podsMade, podsSucceeded, end);
    }
  }

  /** A resource of a flavor in a ClusterQueue. */
  public record FlavorResourcePair(String clusterQueue, String flavor, String resource) {

    @Override
    public String toString() {
      return "ClusterQueue %s, flavor %s, %s".formatted(clusterQueue, flavor, resource);
    }
  }
}
