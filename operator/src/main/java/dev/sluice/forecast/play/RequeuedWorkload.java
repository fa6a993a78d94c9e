package dev.sluice.forecast.play;

import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.WorkloadExport;
import dev.sluice.core.engine.WorkloadExport.ReservationExport;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.queue.QuotaHolder.QuotaHolderExport;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** What is queued when a Workload that has quota is preempted. */
public final class RequeuedWorkload {

  private RequeuedWorkload() {}

  /**
   * The request of a Workload that has quota. The engine forgets what such a Workload asked for; it
   * asks for as much as it has, in one pod, on any flavor and node.
   *
   * @param state the state that the Workload is part of
   * @return empty if it has no quota
   */
  public static Optional<PendingWorkload> of(WorkloadExport workload, EngineState state) {
    Optional<ReservationExport> reservation = workload.reservation();
    return workload.retained().isPresent() || reservation.isEmpty()
        ? workload.retained().filter(_ -> reservation.isPresent())
        : reservation.map(held -> pending(workload, held.holder(), state));
  }

  private static PendingWorkload pending(
      WorkloadExport workload, QuotaHolderExport quotaHolder, EngineState state) {
    SortedMap<String, Long> amounts = new TreeMap<>();
    for (QuotaHolderExport.Reserved each : quotaHolder.reserved()) {
      FlavorResource flavorResource = state.specs().pairs().get(each.pair());
      amounts.merge(flavorResource.resource(), each.amount(), Long::sum);
    }
    Instant queuedAt = quotaHolder.queuedAt();
    return new PendingWorkload(
        workload.id(),
        workload.version(),
        workload.queueName(),
        new RequestShape(
            List.of(new PodSetRequest("main", 1, 0, amounts, NodeConstraints.ANYWHERE, "")),
            quotaHolder.guaranteed()),
        quotaHolder.priority(),
        queuedAt,
        queuedAt,
        Optional.empty(),
        false,
        Optional.empty(),
        false,
        quotaHolder.evictable());
  }
}
