package dev.sluice.checks.multikueue.sync;

import dev.sluice.checks.multikueue.dispatch.Dispatcher;
import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.writing.DecisionExecutor.FirstNomination;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Nominates all connected workers in the write that reserves the quota of an ordinary Workload, if
 * all are to be asked at once; binds the replacement of a slice to the worker of that slice.
 * Whatever is left out here is nominated by the placement, which looks at each Workload after that
 * write, and corrects what is nominated here. Thread-safe.
 */
final class FirstNominator implements FirstNomination {

  private final Dispatcher dispatcher;
  private final MultiKueueKinds kinds;
  private final Function<RemoteWorkloadContext, ClusterCandidates> candidates;
  private final Supplier<Set<String>> connected;
  private final ElasticSlices elasticSlices;

  /**
   * Creates a nominator.
   *
   * @param candidates the workers that a Workload may use
   * @param connected the workers that are connected at the moment of asking
   */
  FirstNominator(
      Dispatcher dispatcher,
      MultiKueueKinds kinds,
      Function<RemoteWorkloadContext, ClusterCandidates> candidates,
      Supplier<Set<String>> connected,
      ElasticSlices elasticSlices) {
    this.elasticSlices = elasticSlices;
    this.dispatcher = dispatcher;
    this.kinds = kinds;
    this.candidates = candidates;
    this.connected = connected;
  }

  @Override
  public Clusters of(CachedWorkload workload, List<CheckState> checks) {
    Optional<String> followed = elasticSlices.followed(workload);
    return new Clusters(followed, followed.isPresent() ? List.of() : nominated(workload, checks));
  }

  private List<String> nominated(CachedWorkload workload, List<CheckState> checks) {
    boolean ordinary =
        dispatcher instanceof Dispatcher.AllAtOnce
            && checks.size() == 1
            && checks.getFirst().is(CheckState.PENDING)
            && !workload.elastic()
            && !LocalClusters.isMarked(workload)
            && JobGroups.job(workload).isEmpty();
    if (!ordinary) {
      return List.of();
    }
    RemoteWorkloadContext context =
        new RemoteWorkloadContext(
            kinds,
            new Key(workload.id().namespace(), workload.id().name()),
            Optional.of(workload),
            Optional.of(checks.getFirst().name()),
            Map.of(),
            Instant.EPOCH,
            new ReconcileState());
    if (context.owner().isEmpty()) {
      return List.of();
    }
    Set<String> reachable = connected.get();
    return candidates.apply(context).allowed().stream()
        .filter(reachable::contains)
        .distinct()
        .sorted()
        .toList();
  }
}
