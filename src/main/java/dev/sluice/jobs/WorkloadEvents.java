package dev.sluice.jobs;

import dev.sluice.workloads.Workload;
import dev.sluice.workloads.WorkloadListener;
import dev.sluice.workloads.WorkloadStore;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.EventHandler;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Wakes a job when its Workload changes. Says nothing until the controller runs. */
final class WorkloadEvents<R extends JobResource> extends AbstractEventSource<Workload, R>
    implements WorkloadListener {

  private final JobKind kind;
  private final WorkloadStore store;
  private final Consumer<Workload> whenLeaving;

  /**
   * Wakes jobs of this kind.
   *
   * @param whenLeaving is also told of Workloads that are being deleted but still guarded
   */
  WorkloadEvents(JobKind kind, WorkloadStore store, Consumer<Workload> whenLeaving) {
    super(Workload.class, "workloads");
    this.kind = kind;
    this.store = store;
    this.whenLeaving = whenLeaving;
  }

  @Override
  public void start() {
    super.start();
    store.all().forEach(this::tellIfLeaving);
  }

  @Override
  public void changed(@Nullable Workload before, @Nullable Workload after) {
    if (!isRunning()) {
      return;
    }
    Workload either = after == null ? Objects.requireNonNull(before) : after;
    ours(either).ifPresent(owner -> wake(either, owner));
    if (after != null) {
      tellIfLeaving(after);
    }
  }

  private Optional<Workload.Owner> ours(Workload workload) {
    return workload.owner().filter(owner -> kind.is(owner.apiVersion(), owner.kind()));
  }

  private void wake(Workload workload, Workload.Owner owner) {
    EventHandler handler = getEventHandler();
    if (handler != null) {
      handler.handleEvent(new Event(new ResourceID(owner.name(), workload.id().namespace())));
    }
  }

  private void tellIfLeaving(Workload workload) {
    if (workload.deleting() && workload.finalized() && ours(workload).isPresent()) {
      whenLeaving.accept(workload);
    }
  }

  @Override
  public Set<Workload> getSecondaryResources(R job) {
    return store.ownedBy(job.view().ref().uid()).stream().collect(Collectors.toUnmodifiableSet());
  }
}
