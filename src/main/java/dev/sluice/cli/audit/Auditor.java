package dev.sluice.cli.audit;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Replays a history, change by change, and notes every broken rule. Quotas are those of
 * ClusterQueues without a cohort; it says so of others instead of judging them. For one thread.
 */
public final class Auditor {

  private final List<Violation> violations = new ArrayList<>();
  private final Map<Pair, BigDecimal> quotas = new HashMap<>();
  private final Ledger admitted = new Ledger();
  private final Ledger running = new Ledger();
  private final Map<String, JobFile> jobs = new LinkedHashMap<>();
  private final Map<String, WorkloadFile> workloads = new HashMap<>();
  private final Map<String, PodFile> pods = new HashMap<>();
  private long changes;
  private long last;

  /** What was last seen of a Workload. */
  private record WorkloadFile(boolean evicted, Map<String, Pair> pairs) {}

  /** What was last seen of a pod. */
  private record PodFile(Map<Pair, BigDecimal> requests, boolean ended) {}

  /** All of a history, in whatever order. */
  public static AuditReport audit(List<Change> history) {
    Auditor auditor = new Auditor();
    history.stream()
        .sorted((one, other) -> Long.compare(one.revision(), other.revision()))
        .forEach(auditor::accept);
    return auditor.report();
  }

  /** The next change; revisions may only grow. */
  public void accept(Change change) {
    changes++;
    if (change.revision() <= last) {
      violate(Rule.WHOLE_HISTORY, change, "comes after revision " + last);
    }
    last = Math.max(last, change.revision());
    switch (change.kind()) {
      case CLUSTER_QUEUE -> clusterQueue(change);
      case WORKLOAD -> workload(change);
      case JOB -> job(change);
      case POD -> pod(change);
      case LOCAL_QUEUE, COHORT -> violate(Rule.WHOLE_HISTORY, change, "is not judged here");
    }
  }

  /** What was found up to now. */
  public AuditReport report() {
    List<Violation> found = new ArrayList<>(violations);
    for (JobFile job : jobs.values()) {
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
        jobs.values().stream().filter(JobFile::isQueued).map(JobFile::record).toList(),
        admitted.peaks(),
        quotas,
        found);
  }

  private void clusterQueue(Change change) {
    String name = Reading.name(change.object());
    quotas.keySet().removeIf(pair -> pair.clusterQueue().equals(name));
    if (change.deleted()) {
      return;
    }
    quotas.putAll(Reading.quotas(change.object()));
    if (!change.object().path("spec").path("cohortName").asText().isEmpty()) {
      violate(Rule.WHOLE_HISTORY, change, "it is in a cohort, which is not judged here");
    }
  }

  private void workload(Change change) {
    JsonNode workload = change.object();
    String uid = Reading.uid(workload);
    JobFile job = of(Reading.controllingJob(workload));
    Map<Pair, BigDecimal> held = change.deleted() ? Map.of() : Reading.held(workload);
    admitted.set(
        uid, held, (pair, sum) -> within(Rule.QUOTA_KEPT, pair, sum, change, "held by Workloads"));

    boolean live = !change.deleted() && !Reading.isTrue(workload, "Finished");
    boolean evicted = Reading.isTrue(workload, "Evicted");
    WorkloadFile before = workloads.get(uid);
    if (evicted && (before == null || !before.evicted())) {
      job.evicted();
    }
    workloads.put(uid, new WorkloadFile(evicted, Reading.pairs(workload)));
    if (live && !job.claim(uid)) {
      violate(Rule.ONE_WORKLOAD, change, "the Job " + job.name() + " has another one");
    }
    if (!live) {
      job.release(uid);
    }
    if (!holds(job) && job.runs()) {
      violate(Rule.HELD_UNTIL_ADMITTED, change, "the Job " + job.name() + " still runs");
    }
  }

  private void job(Change change) {
    JobFile job = of(Reading.uid(change.object()));
    job.see(change);
    if (!job.isQueued()) {
      return;
    }
    if (job.runs() && !holds(job)) {
      violate(Rule.HELD_UNTIL_ADMITTED, change, "spec.suspend is false");
    }
    if (job.starts() > 1 + job.evictions()) {
      violate(
          Rule.STARTED_ONCE,
          change,
          "%d starts, %d evictions".formatted(job.starts(), job.evictions()));
    }
    if (job.templateTouched()) {
      violate(Rule.TEMPLATE_KEPT, change, "spec.template");
    }
  }

  private void pod(Change change) {
    JsonNode pod = change.object();
    String uid = Reading.uid(pod);
    PodFile before = pods.get(uid);
    JobFile job = of(Reading.controllingJob(pod));
    if (!job.isQueued()) {
      return;
    }
    PodFile file = before == null ? created(change, job) : before;
    if (!file.ended() && (change.deleted() || Reading.hasEnded(pod))) {
      job.podEnded(pod.path("status").path("phase").asText());
      file = new PodFile(file.requests(), true);
    }
    pods.put(uid, file);
    running.set(
        uid,
        file.ended() ? Map.of() : file.requests(),
        (pair, sum) -> within(Rule.PODS_WITHIN_QUOTA, pair, sum, change, "requested by pods"));
  }

  private PodFile created(Change change, JobFile job) {
    if (!holds(job) && !job.isLeaving()) {
      violate(Rule.NO_POD_BEFORE_ADMISSION, change, "of the Job " + job.name());
    }
    job.podMade();
    boolean oneTooMany = job.podsMade() > job.podsAllowed();
    if (oneTooMany) {
      violate(
          Rule.ONE_SET_OF_PODS,
          change,
          "pod %d of the Job %s, which may have %d"
              .formatted(job.podsMade(), job.name(), job.podsAllowed()));
    }
    WorkloadFile workload = workloads.get(job.workload());
    Map<String, Pair> pairs = workload == null ? Map.of() : workload.pairs();
    // One too many is a fault of its own; what it asks for isn't held against the quota as well.
    return new PodFile(oneTooMany ? Map.of() : Reading.requests(change.object(), pairs), false);
  }

  /** The file of a Job; one that nobody keeps for what belongs to none. */
  private JobFile of(String uid) {
    return uid.isEmpty() ? new JobFile() : jobs.computeIfAbsent(uid, key -> new JobFile());
  }

  private boolean holds(JobFile job) {
    return admitted.holds(job.workload());
  }

  private void within(Rule rule, Pair pair, BigDecimal sum, Change change, String how) {
    BigDecimal quota = quotas.getOrDefault(pair, BigDecimal.ZERO);
    if (sum.compareTo(quota) > 0) {
      violate(
          rule,
          change,
          "%s: %s %s of %s"
              .formatted(
                  pair,
                  sum.stripTrailingZeros().toPlainString(),
                  how,
                  quota.stripTrailingZeros().toPlainString()));
    }
  }

  private void violate(Rule rule, Change change, String detail) {
    violations.add(new Violation(rule, change.revision(), Reading.name(change.object()), detail));
  }
}
