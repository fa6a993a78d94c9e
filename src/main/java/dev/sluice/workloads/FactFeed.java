package dev.sluice.workloads;

import dev.sluice.engine.EngineMailbox;
import dev.sluice.model.Fact;
import dev.sluice.model.ReservingWorkload;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Tells the engine of Workloads: each change that matters to it, in order. A pending Workload is
 * told anew with every version, since an admission must name the version it was decided on.
 */
public final class FactFeed implements WorkloadListener, ResourceContext.Listener {

  private final WorkloadFacts facts;
  private final WorkloadStore store;
  private final EngineMailbox engine;

  /** Feeds {@code engine} with the Workloads of {@code store}. */
  public FactFeed(WorkloadFacts facts, WorkloadStore store, EngineMailbox engine) {
    this.facts = facts;
    this.store = store;
    this.engine = engine;
  }

  @Override
  public void changed(@Nullable Workload before, @Nullable Workload after) {
    if (after == null) {
      if (before != null) {
        engine.submit(new Fact.WorkloadReleased(before.id(), Long.MAX_VALUE));
      }
      return;
    }
    Fact fact = facts.of(after);
    if (before == null ? !(fact instanceof Fact.WorkloadReleased) : matters(before, fact)) {
      engine.submit(fact);
    }
  }

  private boolean matters(Workload before, Fact fact) {
    return switch (fact) {
      case Fact.WorkloadReleased released -> !(facts.of(before) instanceof Fact.WorkloadReleased);
      case Fact.WorkloadReserving reserving ->
          !(facts.of(before) instanceof Fact.WorkloadReserving known
              && sameUse(known.workload(), reserving.workload()));
      default -> true;
    };
  }

  private static boolean sameUse(ReservingWorkload a, ReservingWorkload b) {
    return a.admitted() == b.admitted()
        && a.podsReady() == b.podsReady()
        && a.evicted() == b.evicted()
        && a.priority() == b.priority()
        && a.clusterQueue().equals(b.clusterQueue())
        && a.queueName().equals(b.queueName())
        && a.queuedAt().equals(b.queuedAt())
        && a.reservedAt().equals(b.reservedAt())
        && a.podSets().equals(b.podSets());
  }

  @Override
  public void rulesChanged(String namespace) {
    tellAgain(workload -> workload.id().namespace().equals(namespace));
  }

  @Override
  public void overheadChanged(String runtimeClass) {
    tellAgain(
        workload ->
            workload.spec().podSets().stream()
                .anyMatch(set -> set.template().runtimeClassName().equals(runtimeClass)));
  }

  /** Where Workloads may run is told otherwise from now on. */
  public void placesChanged() {
    tellAgain(workload -> true);
  }

  private void tellAgain(Predicate<Workload> concerned) {
    for (Workload workload : store.all()) {
      if (concerned.test(workload) && facts.of(workload) instanceof Fact.WorkloadPending pending) {
        engine.submit(pending);
        takeBackIfGone(workload);
      }
    }
  }

  /** Its end may have been told just before what was told now. */
  private void takeBackIfGone(Workload workload) {
    boolean exists =
        store
            .get(workload.id().namespace(), workload.id().name())
            .filter(found -> found.id().equals(workload.id()))
            .isPresent();
    if (!exists) {
      engine.submit(new Fact.WorkloadReleased(workload.id(), Long.MAX_VALUE));
    }
  }
}
