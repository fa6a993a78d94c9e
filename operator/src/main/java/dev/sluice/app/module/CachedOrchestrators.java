package dev.sluice.app.module;

import dev.sluice.api.v1beta2.EffectiveQuotas;
import dev.sluice.metrics.QueueGauges.Orchestrators;
import dev.sluice.queues.cache.InformerCaches;
import java.util.Optional;

/** The orchestrators whose effective quotas are in the statuses of queues and cohorts. */
record CachedOrchestrators(InformerCaches informerCaches) implements Orchestrators {

  @Override
  public String ofClusterQueue(String name) {
    return name(
        informerCaches
            .clusterQueues()
            .find(name)
            .flatMap(queue -> Optional.ofNullable(queue.getStatus()))
            .flatMap(status -> Optional.ofNullable(status.effectiveQuotas())));
  }

  @Override
  public String ofCohort(String name) {
    return name(
        informerCaches
            .cohorts()
            .find(name)
            .flatMap(cohort -> Optional.ofNullable(cohort.getStatus()))
            .flatMap(status -> Optional.ofNullable(status.effectiveQuotas())));
  }

  private static String name(Optional<EffectiveQuotas> quotas) {
    return quotas.map(each -> each.orchestratorRef().name()).orElse("");
  }
}
