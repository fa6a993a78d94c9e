package dev.sluice.workload.feed;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.ResourceContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What the engine is told of Workloads whose quota pods hold after their end. */
class WorkloadEventFeedTest {

  private final KnownWorkloads workloads = new KnownWorkloads();
  private final List<SchedulerEvent> submitted = new ArrayList<>();
  private final AtomicBoolean held = new AtomicBoolean();
  private boolean outlasted;
  private final WorkloadEventFeed feed =
      new WorkloadEventFeed(
          new WorkloadTranslator(ResourceContext.NONE, TranslationOptions.DEFAULT),
          workloads,
          this::submit,
          new WorkloadEventFeed.Held() {
            @Override
            public boolean isHeld(WorkloadId workload) {
              return held.get();
            }

            @Override
            public boolean isOutlasted(WorkloadId workload) {
              return outlasted;
            }
          });

  /** What happens while the engine is told of a Workload. */
  private Runnable meanwhile = () -> {};

  private void submit(SchedulerEvent schedulerEvent) {
    if (!(schedulerEvent instanceof SchedulerEvent.WorkloadReleased)) {
      Runnable happening = meanwhile;
      meanwhile = () -> {};
      happening.run();
    }
    submitted.add(schedulerEvent);
  }

  private void podsGo() {
    held.set(false);
    feed.podsGone(workload(true).id());
  }

  private static CachedWorkload workload(boolean finished) {
    var given = workloadOf(job()).admitted("spot");
    return finished ? given.finished().version(201).get() : given.get();
  }

  private void finish() {
    CachedWorkload before = workload(false);
    CachedWorkload after = workload(true);
    workloads.add(after);
    feed.changed(before, after);
  }

  @Test
  void aFinishedWorkloadHoldsItsQuotaAsLongAsItsPods() {
    held.set(true);
    finish();
    assertThat(submitted).hasSize(1);
    assertThat(submitted.getFirst()).isInstanceOf(SchedulerEvent.WorkloadReserving.class);
    held.set(false);
    feed.podsGone(workload(true).id());
    assertThat(submitted.getLast()).isInstanceOf(SchedulerEvent.WorkloadReleased.class);
  }

  private ReservingWorkload reserving() {
    return ((SchedulerEvent.WorkloadReserving) submitted.getLast()).workload();
  }

  /** Otherwise a preemptor would wait for pods that nobody stops. */
  @Test
  void afterAWhileNobodyWaitsForThePodsOfAFinishedWorkload() {
    held.set(true);
    finish();
    assertThat(reserving().evicted()).isTrue();
    assertThat(reserving().evictable()).isTrue();

    outlasted = true;
    feed.outlasted(workload(true));
    assertThat(reserving().evicted()).isTrue();
    assertThat(reserving().evictable()).isFalse();
  }

  @Test
  void aDeletedWorkloadThatPodsHoldIsOneThatIsBeingEvicted() {
    held.set(true);
    feed.changed(workload(false), null);
    assertThat(reserving().evicted()).isTrue();

    held.set(false);
    feed.podsGone(workload(false).id());
    assertThat(submitted.getLast()).isInstanceOf(SchedulerEvent.WorkloadReleased.class);
  }

  @Test
  void quotaIsReleasedAlsoIfItsPodsGoWhileTheEngineIsTold() {
    held.set(true);
    meanwhile = this::podsGo;
    finish();
    assertThat(submitted.getLast()).isInstanceOf(SchedulerEvent.WorkloadReleased.class);
  }

  @Test
  void whoseEndLeavesNoPodsIsReleasedOnce() {
    finish();
    assertThat(submitted).hasSize(1);
    assertThat(submitted.getFirst()).isInstanceOf(SchedulerEvent.WorkloadReleased.class);
  }

  /** The engine forgets the versions of what has ended, and would charge an older one. */
  @Test
  void theEndComesLastOfAWorkloadThatEndsWhileItIsToldOfAgain() {
    workloads.add(workload(false));
    meanwhile = this::finish;
    feed.annotatedRulesChanged();
    assertThat(submitted).hasSize(3);
    assertThat(submitted.get(1)).isInstanceOf(SchedulerEvent.WorkloadReserving.class);
    assertThat(submitted.getLast()).isInstanceOf(SchedulerEvent.WorkloadReleased.class);
  }

  @Test
  void aDeactivatedWorkloadDoesNotQueueAgainByWhatWasReadBefore() {
    workloads.add(workloadOf(job()).get());
    meanwhile =
        () -> {
          CachedWorkload inactive = workloadOf(job()).inactive().version(201).get();
          workloads.add(inactive);
          feed.changed(workloadOf(job()).get(), inactive);
        };
    feed.avoidedClustersChanged();
    assertThat(submitted.get(1)).isInstanceOf(SchedulerEvent.WorkloadPending.class);
    assertThat(submitted.getLast())
        .isEqualTo(new SchedulerEvent.WorkloadReleased(workload(true).id(), 201));
  }

  @Test
  void aDeletedWorkloadThatPodsHoldStaysOneThatIsBeingEvicted() {
    workloads.add(workload(false));
    meanwhile =
        () -> {
          held.set(true);
          workloads.known().clear();
          feed.changed(workload(false), null);
        };
    feed.annotatedRulesChanged();
    assertThat(reserving().evicted()).isTrue();
  }

  @Test
  void quotaThatIsHeldForLongIsReleasedAlsoIfItsPodsGoWhileTheEngineIsTold() {
    held.set(true);
    meanwhile = this::podsGo;
    workloads.add(workload(true));
    feed.outlasted(workload(true));
    assertThat(submitted.getLast()).isInstanceOf(SchedulerEvent.WorkloadReleased.class);
  }
}
