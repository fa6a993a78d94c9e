package dev.sluice.queues.mapping;

import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.QuotaReference;
import dev.sluice.api.v1beta2.EffectiveQuotas;
import org.jspecify.annotations.Nullable;

/** Says which effective quotas the status of a queue or cohort should have. */
@FunctionalInterface
public interface EffectiveQuotasPlan {

  /** Nobody orchestrates: what is written stays. */
  EffectiveQuotasPlan KEPT = (reference, current) -> current;

  /** The effective quotas of an object that has {@code current}; null for none. */
  @Nullable EffectiveQuotas wanted(QuotaReference reference, @Nullable EffectiveQuotas current);
}
