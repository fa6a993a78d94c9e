package dev.sluice.checks.provisioning;

import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Which requests of a Workload are not needed any more (docs/provisioning.md#what-is-deleted). */
final class RequestCleanup {

  private RequestCleanup() {}

  /**
   * The requests to delete.
   *
   * @param checks the states of the Workload's checks of this controller
   * @param owned the requests that the Workload controls
   * @param onEviction whether they are deleted before the Workload has finished, too
   */
  static List<CachedRequest> unneeded(
      CachedWorkload workload,
      List<CheckState> checks,
      Collection<CachedRequest> owned,
      boolean onEviction) {
    boolean none = workload.finished() || workload.evicted() || !workload.spec().active();
    boolean isRunning = workload.admitted() && !none; // on nodes that a request may stand for
    boolean isInterrupted = !workload.quotaReserved() && !none; // the next reservation may need it
    if (isRunning || isInterrupted || !workload.finished() && !onEviction) {
      return List.of();
    }
    Set<String> needed =
        checks.stream()
            .filter(check -> !none)
            .map(check -> ProvisioningPolicy.requestName(workload, check))
            .collect(Collectors.toSet());
    return owned.stream()
        .filter(request -> !request.deleting() && !needed.contains(request.name()))
        .toList();
  }
}
