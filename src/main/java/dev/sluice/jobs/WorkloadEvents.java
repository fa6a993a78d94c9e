package dev.sluice.jobs;

import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.WorkloadListener;
import dev.sluice.workload.WorkloadLister;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.EventHandler;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Wakes jobs: one when its Workload changes, all of them when there is a new reason to look at
 * each. Says nothing until the controller runs.
 */
final class WorkloadEvents<R extends JobResource> extends AbstractEventSource<CachedWorkload, R>
    implements WorkloadListener {

  private final JobKind kind;
  private final WorkloadLister store;
  private final Consumer<CachedWorkload> whenLeaving;
  private final Supplier<Stream<R>> jobs;
  private volatile boolean synced;

  /**
   * Wakes jobs of this kind.
   *
   * @param whenLeaving is also told of Workloads that are being deleted but still guarded
   * @param jobs all jobs of the kind
   */
  WorkloadEvents(
      JobKind kind,
      WorkloadLister store,
      Consumer<CachedWorkload> whenLeaving,
      Supplier<Stream<R>> jobs) {
    super(CachedWorkload.class, "workloads");
    this.jobs = jobs;
    this.kind = kind;
    this.store = store;
    this.whenLeaving = whenLeaving;
  }

  @Override
  public void synced() {
    synced = true;
    triggerAll();
  }

  /** Whether all Workloads are known. */
  boolean isSynced() {
    return synced;
  }

  /** Wakes every job, and looks at every Workload that is being deleted. */
  void triggerAll() {
    if (isRunning()) {
      jobs.get().forEach(job -> handle(ResourceID.fromResource(job)));
      store.all().forEach(this::notifyIfFinalizing);
    }
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (!isRunning()) {
      return;
    }
    CachedWorkload either = after == null ? Objects.requireNonNull(before) : after;
    ours(either).ifPresent(owner -> trigger(either, owner));
    if (after != null) {
      notifyIfFinalizing(after);
    }
  }

  private Optional<CachedWorkload.Owner> ours(CachedWorkload workload) {
    return workload.owner().filter(owner -> kind.is(owner.apiVersion(), owner.kind()));
  }

  private void trigger(CachedWorkload workload, CachedWorkload.Owner owner) {
    handle(new ResourceID(owner.name(), workload.id().namespace()));
  }

  private void handle(ResourceID job) {
    EventHandler handler = getEventHandler();
    if (handler != null) {
      handler.handleEvent(new Event(job));
    }
  }

  private void notifyIfFinalizing(CachedWorkload workload) {
    if (workload.deleting() && workload.finalized() && ours(workload).isPresent()) {
      whenLeaving.accept(workload);
    }
  }

  @Override
  public Set<CachedWorkload> getSecondaryResources(R job) {
    return store.ownedBy(job.view().ref().uid()).stream().collect(Collectors.toUnmodifiableSet());
  }
}
