package dev.sluice.app;

import dev.sluice.api.config.Configuration;
import dev.sluice.jobs.Integration;
import dev.sluice.jobs.IntegrationRegistry;
import dev.sluice.jobs.JobKind;
import dev.sluice.jobs.integrations.BuiltInIntegrations;
import dev.sluice.jobs.pod.PodIndex;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.CachedWorkload.Owner;
import java.util.List;
import java.util.function.Predicate;

/**
 * Workloads whose job somebody attends to: an integration that is turned on, another controller
 * that the configuration names, a worker cluster, or, without a controlling owner, whoever made the
 * Workload. For any other Workload nobody stops pods or reports that they are ready.
 */
final class AttendedKinds implements Predicate<CachedWorkload> {

  private final List<JobKind> integrated;
  private final List<JobKind> external;

  AttendedKinds(OperatorContext context) {
    Configuration configuration = context.configuration();
    integrated =
        new IntegrationRegistry(
                BuiltInIntegrations.all(new PodIndex()),
                configuration.integrations().frameworks(),
                context::isEnabled)
            .enabled().stream().map(Integration::kind).toList();
    external =
        configuration.integrations().externalFrameworks().stream().map(JobKind::parse).toList();
  }

  @Override
  public boolean test(CachedWorkload workload) {
    return workload.owner().isEmpty()
        || !workload.status().remotePlacement().cluster().isEmpty()
        || workload.owner().filter(this::isAttended).isPresent();
  }

  private boolean isAttended(Owner owner) {
    return integrated.stream().anyMatch(kind -> kind.is(owner.apiVersion(), owner.kind()))
        || isExternal(owner);
  }

  /** Whether an owner is of a kind that another controller of this cluster handles. */
  boolean isExternal(Owner owner) {
    return external.stream()
        .anyMatch(
            kind ->
                owner.kind().equalsIgnoreCase(kind.kind())
                    && owner.apiVersion().startsWith(kind.group() + "/"));
  }
}
