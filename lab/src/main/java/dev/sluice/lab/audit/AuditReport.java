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
}
