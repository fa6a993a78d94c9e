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

  /** The pods go while the engine is told that they hold the quota. */
  private boolean podsGoMeanwhile;

  private void submit(SchedulerEvent schedulerEvent) {
    if (podsGoMeanwhile && schedulerEvent instanceof SchedulerEvent.WorkloadReserving) {
      podsGoMeanwhile = false;
      held.set(false);
      feed.podsGone(workload(true).id());
    }
    submitted.add(schedulerEvent);
  }

  private static CachedWorkload workload(boolean finished) {
    var given = workloadOf(job()).admitted("spot");
    return finished ? given.finished().get() : given.get();
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
    podsGoMeanwhile = true;
    finish();
    assertThat(submitted.getLast()).isInstanceOf(SchedulerEvent.WorkloadReleased.class);
  }

  @Test
  void whoseEndLeavesNoPodsIsReleasedOnce() {
    finish();
    assertThat(submitted).hasSize(1);
    assertThat(submitted.getFirst()).isInstanceOf(SchedulerEvent.WorkloadReleased.class);
  }
}
