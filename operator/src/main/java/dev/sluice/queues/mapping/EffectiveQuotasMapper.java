package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;

/**
 * Queues and cohorts with the quotas that count: the effective ones of their status, if there are
 * any, instead of those of their specification (docs/dynamic-quota.md).
 *
 * @param enabled whether effective quotas count at all
 */
public record EffectiveQuotasMapper(boolean enabled) {

  /** The queue itself if it has no effective quotas, else a copy whose specification has them. */
  public ClusterQueue applied(ClusterQueue queue) {
    if (!enabled
        || queue.getSpec() == null
        || queue.getStatus() == null
        || queue.getStatus().effectiveQuotas() == null) {
      return queue;
    }
    ClusterQueue copy = new ClusterQueue();
    copy.setMetadata(queue.getMetadata());
    copy.setSpec(queue.getSpec().with(queue.getStatus().effectiveQuotas().resourceGroups()));
    copy.setStatus(queue.getStatus());
    return copy;
  }

  /** The cohort itself if it has no effective quotas, else a copy whose specification has them. */
  public Cohort applied(Cohort cohort) {
    if (!enabled
        || cohort.getSpec() == null
        || cohort.getStatus() == null
        || cohort.getStatus().effectiveQuotas() == null) {
      return cohort;
    }
    Cohort copy = new Cohort();
    copy.setMetadata(cohort.getMetadata());
    copy.setSpec(cohort.getSpec().with(cohort.getStatus().effectiveQuotas().resourceGroups()));
    copy.setStatus(cohort.getStatus());
    return copy;
  }
}
