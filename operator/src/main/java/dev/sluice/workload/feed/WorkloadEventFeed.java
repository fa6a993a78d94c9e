package dev.sluice.workload.feed;

import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.ResourceContext;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Submits changes of Workloads to the engine, in order. A pending Workload is submitted again with
 * every version, because an admission must name the version that it was based on.
 */
public final class WorkloadEventFeed implements WorkloadListener, ResourceContext.Listener {

  private final WorkloadTranslator translator;
  private final WorkloadLister store;
  private final SchedulerEventSink engine;
  private final Held held;

  /** Which Workloads pods hold, so that they keep their quota after their end. */
  public interface Held {

    /** Pods hold no Workload. */
    Held NONE =
        new Held() {
          @Override
          public boolean isHeld(WorkloadId workload) {
            return false;
          }

          @Override
          public boolean isOutlasted(WorkloadId workload) {
            return false;
          }
        };

    /** Whether a Workload that has finished or was deleted keeps its quota, because pods run. */
    boolean isHeld(WorkloadId workload);

    /** Whether pods have held it for so long that nobody shall wait for them. */
    boolean isOutlasted(WorkloadId workload);
  }

  /** Creates a feed from {@code store} to {@code engine}, where nothing is held by pods. */
  public WorkloadEventFeed(
      WorkloadTranslator translator, WorkloadLister store, SchedulerEventSink engine) {
    this(translator, store, engine, Held.NONE);
  }

  /**
   * The same with Workloads that are held.
   *
   * @param held the Workloads that pods hold; {@link #podsGone} tells when they don't any more, and
   *     {@link #outlasted} that they do for long
   */
  public WorkloadEventFeed(
      WorkloadTranslator translator, WorkloadLister store, SchedulerEventSink engine, Held held) {
    this.translator = translator;
    this.store = store;
    this.engine = engine;
    this.held = held;
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (after == null) {
      if (before != null) {
        // a parent takes back the charge of a variant before that goes: nobody gets it in between
        if (!held.isHeld(before.id())) {
          translator.relatives(before).forEach(this::submit);
        }
        ended(before);
      }
      return;
    }
    translator.relatives(after).forEach(this::submit);
    SchedulerEvent schedulerEvent = event(after);
    if (before == null
        ? !(schedulerEvent instanceof SchedulerEvent.WorkloadReleased)
        : matters(before, schedulerEvent)) {
      engine.submit(schedulerEvent);
      releaseIfPodsAreGone(after, schedulerEvent);
    }
  }

  private void releaseIfPodsAreGone(CachedWorkload workload, SchedulerEvent schedulerEvent) {
    if (workload.finished() && schedulerEvent instanceof SchedulerEvent.WorkloadReserving) {
      if (held.isOutlasted(workload.id())) {
        outlasted(workload);
      }
      releaseIfPodsAreGone(workload.id());
    }
  }

  /** Submits that a Workload was deleted, unless pods hold its quota nevertheless. */
  private void ended(CachedWorkload last) {
    if (held.isHeld(last.id())) {
      outlasted(last);
    } else {
      engine.submit(new SchedulerEvent.WorkloadReleased(last.id(), Long.MAX_VALUE));
    }
  }

  /**
   * Submits that no pods hold the quota of a Workload any more if another thread found that out
   * before it was submitted that they do: what is submitted last counts, and nothing comes after
   * the end of a Workload and of its pods.
   */
  private void releaseIfPodsAreGone(WorkloadId workload) {
    if (!held.isHeld(workload)) {
      podsGone(workload);
    }
  }

  private void submit(CachedWorkload workload) {
    submit(workload, event(workload));
  }

  private void submit(CachedWorkload workload, SchedulerEvent schedulerEvent) {
    engine.submit(schedulerEvent);
    releaseIfPodsAreGone(workload, schedulerEvent);
    submitNewer(workload);
  }

  /**
   * Submits again what has become of a Workload if that happened before its last submission. The
   * engine knows no version of what has ended: it would take an older one for a new Workload.
   */
  private void submitNewer(CachedWorkload workload) {
    Optional<CachedWorkload> latest = store.get(workload.id());
    if (latest.isEmpty()) {
      ended(workload);
    } else if (latest.get().version() != workload.version()) {
      submit(latest.get());
    }
  }

  /** A Workload that pods hold counts as one that is being evicted. */
  private SchedulerEvent event(CachedWorkload workload) {
    return workload.finished() && held.isHeld(workload.id())
        ? translator.held(workload, held.isOutlasted(workload.id()))
        : translator.of(workload);
  }

  /** Pods of a Workload that has finished or was deleted hold its quota, maybe for long. */
  public void outlasted(CachedWorkload workload) {
    engine.submit(translator.held(workload, held.isOutlasted(workload.id())));
    releaseIfPodsAreGone(workload.id());
  }

  /** No pods of a Workload hold its quota any more. */
  public void podsGone(WorkloadId id) {
    Optional<CachedWorkload> workload = store.get(id);
    engine.submit(
        workload
            .map(translator::of)
            .orElseGet(() -> new SchedulerEvent.WorkloadReleased(id, Long.MAX_VALUE)));
    workload.ifPresent(this::submitNewer);
  }

  /** Both versions are judged by the devices of now: the earlier one may have waited. */
  private boolean matters(CachedWorkload before, SchedulerEvent schedulerEvent) {
    return switch (schedulerEvent) {
      case SchedulerEvent.WorkloadReleased released ->
          translator.isReserving(before)
              || !(translator.of(before) instanceof SchedulerEvent.WorkloadReleased)
              || translator.unresolvedDevices(before).isPresent();
      case SchedulerEvent.WorkloadReserving reserving ->
          !(translator.isReserving(before)
              && translator.of(before) instanceof SchedulerEvent.WorkloadReserving known
              && sameUse(known.workload(), reserving.workload()));
      default -> true;
    };
  }

  private static boolean sameUse(ReservingWorkload a, ReservingWorkload b) {
    return a.admitted() == b.admitted()
        && a.podsReady() == b.podsReady()
        && a.evicted() == b.evicted()
        && a.evictable() == b.evictable()
        && a.guaranteed() == b.guaranteed()
        && a.priority() == b.priority()
        && a.clusterQueue().equals(b.clusterQueue())
        && a.queueName().equals(b.queueName())
        && a.queuedAt().equals(b.queuedAt())
        && a.reservedAt().equals(b.reservedAt())
        && a.podSets().equals(b.podSets())
        && a.secondPass().equals(b.secondPass())
        && a.protection().equals(b.protection());
  }

  @Override
  public void rulesChanged(String namespace) {
    resend(workload -> workload.id().namespace().equals(namespace));
  }

  @Override
  public void overheadChanged(String runtimeClass) {
    resend(
        workload ->
            workload.spec().podSets().stream()
                .anyMatch(set -> set.template().runtimeClassName().equals(runtimeClass)));
  }

  /** What waited may be unresolved now: then it is submitted that it doesn't wait any more. */
  @Override
  public void devicesChanged(String namespace) {
    for (CachedWorkload workload :
        namespace.isEmpty() ? store.all() : store.inNamespace(namespace)) {
      if (!workload.finished() && !workload.quotaReserved() && translator.mayUseDevices(workload)) {
        submit(workload);
      }
    }
  }

  /**
   * Slices go on with the run of those that they replace, which may have been listed after them.
   */
  @Override
  public void synced() {
    resubmit(workload -> !workload.replacedSlice().isEmpty());
  }

  /** Submits the Workloads again after the allowed clusters changed. */
  public void avoidedClustersChanged() {
    resend(workload -> true);
  }

  /** Submits all Workloads again after somebody says something else about them by annotation. */
  public void annotatedRulesChanged() {
    resubmit(workload -> true);
  }

  private void resubmit(Predicate<CachedWorkload> concerned) {
    for (CachedWorkload workload : store.all()) {
      if (!concerned.test(workload)) {
        continue;
      }
      SchedulerEvent schedulerEvent = event(workload);
      if (!(schedulerEvent instanceof SchedulerEvent.WorkloadReleased)) {
        submit(workload, schedulerEvent);
      }
    }
  }

  private void resend(Predicate<CachedWorkload> concerned) {
    for (CachedWorkload workload : store.all()) {
      if (concerned.test(workload)
          && translator.of(workload) instanceof SchedulerEvent.WorkloadPending pending) {
        submit(workload, pending);
      }
    }
  }
}
