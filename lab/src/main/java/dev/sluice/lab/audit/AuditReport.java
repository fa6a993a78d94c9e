package dev.sluice.lab.audit;

import dev.sluice.lab.audit.Auditor.FlavorResourcePair;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * Result of an audit.
 *
 * @param changes number of replayed writes
 * @param jobs all Jobs with a queue name, in the order of creation
 * @param peaks the largest amounts held at any time
 * @param quotas the quotas at the end
 * @param violations the violations; empty if every rule was kept
 */
public record AuditReport(
    long changes,
    List<JobRecord> jobs,
    Map<FlavorResourcePair, BigDecimal> peaks,
    Map<FlavorResourcePair, BigDecimal> quotas,
    List<Violation> violations) {

  /** Copies the collections. */
  public AuditReport {
    jobs = List.copyOf(jobs);
    peaks = Map.copyOf(peaks);
    quotas = Map.copyOf(quotas);
    violations = List.copyOf(violations);
  }

  /** The Jobs that have not ended. */
  public List<JobRecord> unfinished() {
    return jobs.stream().filter(job -> job.end().isEmpty()).toList();
  }

  /** A summary in one line. */
  public String summary() {
    return "%d writes replayed, %d Jobs, %d pods: %s"
        .formatted(
            changes,
            jobs.size(),
            jobs.stream().mapToInt(JobRecord::pods).sum(),
            violations.isEmpty()
                ? "quota was kept at every instant, each Job ran once, no pod before admission"
                : violations.size() + " violations, the first: " + violations.getFirst());
  }

  /**
   * History of one queued Job.
   *
   * @param name {@code namespace/name}
   * @param starts how often it was unsuspended
   * @param evictions how often its Workload was evicted
   * @param pods how many pods were created for it
   * @param succeeded how many of the pods succeeded
   * @param end {@code Complete}, {@code Failed}, {@code Deleted}, or empty while it has not ended
   */
  public record JobRecord(
      String name, int starts, int evictions, int pods, int succeeded, String end) {}

  /**
   * A violation of a rule.
   *
   * @param revision the revision of the write that broke the rule
   * @param subject the object concerned
   * @param detail the figures
   */
  public record Violation(Rule rule, long revision, String subject, String detail) {

    @Override
    public String toString() {
      return "%s at revision %d: %s, %s".formatted(rule.violated(), revision, subject, detail);
    }
  }

  /** The rules that the auditor checks. */
  public enum Rule {
    /** At any time, the admitted Workloads of a ClusterQueue held at most its quota. */
    QUOTA_KEPT("quota was exceeded"),
    /** At any time, the pods that had not ended requested at most the quota. */
    PODS_WITHIN_QUOTA("running pods exceeded the quota"),
    /** At any time, the open pods of an elastic Job requested at most what its slices held. */
    PODS_WITHIN_SLICES("an elastic Job had more open pods than its slices had quota for"),
    /** At any time, the pods that a topology placed on a node requested at most what it has. */
    WITHIN_NODE("pods requested more than their node has"),
    /** A Job was unsuspended only while its Workload held quota. */
    HELD_UNTIL_ADMITTED("a Job was unsuspended without quota"),
    /**
     * No pod of a Job was created while its Workload held no quota, unless the Job was being
     * deleted.
     */
    NO_POD_BEFORE_ADMISSION("a pod was made without quota"),
    /** A Job was started once, plus at most once after each eviction. */
    STARTED_ONCE("a Job was started more than once"),
    /** A Job had as many pods as requested, plus one for each pod that failed or was lost. */
    ONE_SET_OF_PODS("a Job had more pods than it asked for"),
    /** A Job had one Workload at a time. */
    ONE_WORKLOAD("a Job had two Workloads"),
    /** A template changed only when its Job was started or stopped. */
    TEMPLATE_KEPT("a pod template was changed on the way"),
    /** The history is complete, and the auditor can evaluate it. */
    WHOLE_HISTORY("the history can't be judged");

    private final String violated;

    Rule(String violated) {
      this.violated = violated;
    }

    /** The description of a violation. */
    public String violated() {
      return violated;
    }
  }
}
