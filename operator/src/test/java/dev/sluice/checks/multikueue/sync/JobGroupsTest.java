package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.placement.GroupPlacement.Choice;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sync.JobGroups.GroupedJob;
import dev.sluice.kube.Fakes;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The Workloads of a job with several Workloads, as they change. */
class JobGroupsTest {

  private static final GroupedJob JOB =
      new GroupedJob("physics", "leaderworkerset.x-k8s.io/v1, Kind=LeaderWorkerSet", "serve");

  private final Fakes.SetWorkloads workloads = new Fakes.SetWorkloads();
  private final JobGroups groups = new JobGroups(workloads);

  /** The Workload of an index becomes this one; tells for which others that may matter. */
  private List<Key> given(int index, int version, String status) throws IOException {
    String json =
        """
        {'metadata': {'name': 'serve-%d', 'namespace': 'physics', 'resourceVersion': '%d',
          'annotations': {'kueue.x-k8s.io/component-workload-index': '%d',
            'kueue.x-k8s.io/job-owner-gvk': 'leaderworkerset.x-k8s.io/v1, Kind=LeaderWorkerSet',
            'kueue.x-k8s.io/job-owner-name': 'serve'}},
         'status': {%s}}
        """
            .formatted(index, version, index, status)
            .replace('\'', '"');
    CachedWorkload now = new WorkloadParser().parse(json.getBytes(StandardCharsets.UTF_8));
    @Nullable CachedWorkload before = workloads.workloads.put("serve-" + index, now);
    return groups.changed(before, now);
  }

  private CachedWorkload workload(int index) {
    return workloads.get("physics", "serve-" + index).orElseThrow();
  }

  private static String holding(String further) {
    return "'conditions': [{'type': 'QuotaReserved', 'status': 'True'}%s]".formatted(further);
  }

  private static String in(String cluster) {
    return holding("") + ", 'clusterName': '" + cluster + "'";
  }

  private Choice choice(int index) {
    return groups.choice(JOB, workload(index));
  }

  @Test
  void theOthersAreLookedAtWhenOneBeginsToHoldQuotaOrGetsAWorker() throws Exception {
    given(0, 1, "");
    assertThat(given(1, 2, holding(""))).isEmpty();
    assertThat(given(0, 3, holding(""))).containsExactly(new Key("physics", "serve-1"));
    assertThat(given(0, 4, holding(""))).isEmpty();
    assertThat(given(0, 5, in("remote"))).containsExactly(new Key("physics", "serve-1"));
    assertThat(given(1, 6, in("remote"))).isEmpty();
    assertThat(groups.count(JOB)).isEqualTo(2);
  }

  @Test
  void theyFollowWhatWasDecidedBeforeTheCacheShowsIt() throws Exception {
    given(0, 1, holding(""));
    given(1, 2, holding(""));
    assertThat(choice(1)).isEqualTo(new Choice.Await("serve-0"));

    groups.claim(JOB, workload(1), "remote");
    assertThat(choice(0)).isEqualTo(new Choice.Follow("remote"));
    assertThat(groups.isUsed(JOB, "serve-0", "remote")).isTrue();
    assertThat(groups.isUsed(JOB, "serve-1", "remote")).isFalse();
    assertThat(choice(1))
        .as("its own decision doesn't bind it")
        .isEqualTo(new Choice.Await("serve-0"));

    given(1, 3, in("remote"));
    assertThat(choice(0)).isEqualTo(new Choice.Follow("remote"));
  }

  @Test
  void aDecisionThatWasNotWrittenBindsNobody() throws Exception {
    given(0, 1, holding(""));
    given(1, 2, holding(""));
    groups.claim(JOB, workload(1), "remote");
    given(1, 3, holding(""));

    assertThat(choice(0)).isEqualTo(new Choice.Free());
    assertThat(groups.isUsed(JOB, "serve-0", "remote")).isFalse();
  }

  @Test
  void whileOneJobIsReconciledNoOtherWaits() throws Exception {
    groups.lock(JOB);

    CompletableFuture.runAsync(
            () -> {
              for (int i = 0; i < 1000; i++) {
                GroupedJob other = new GroupedJob("physics", JOB.gvk(), "other-" + i);
                groups.lock(other);
                groups.unlock(other);
              }
            })
        .get(20, TimeUnit.SECONDS);
    groups.unlock(JOB);
  }

  @Test
  void theWorkloadsOfAJobAreReconciledOneAtATime() throws Exception {
    int[] reconciled = {0};
    Runnable turns =
        () -> {
          for (int i = 0; i < 10_000; i++) {
            groups.lock(JOB);
            reconciled[0]++;
            groups.unlock(JOB);
          }
        };

    CompletableFuture.allOf(
            CompletableFuture.runAsync(turns, Thread::startVirtualThread),
            CompletableFuture.runAsync(turns, Thread::startVirtualThread),
            CompletableFuture.runAsync(turns, Thread::startVirtualThread))
        .get(20, TimeUnit.SECONDS);

    assertThat(reconciled[0]).isEqualTo(30_000);
  }

  @Test
  void whatTheRemoteJobWasGivenIsKnownWhileThereAreWorkloads() throws Exception {
    given(0, 1, in("remote"));
    groups.pushed(JOB, "uid/1");
    assertThat(groups.isPushed(JOB, "uid/1")).isTrue();
    assertThat(groups.isPushed(JOB, "uid/2")).isFalse();

    groups.changed(workload(0), null);
    assertThat(groups.isPushed(JOB, "uid/1")).isFalse();
    groups.pushed(JOB, "uid/1");
    assertThat(groups.isPushed(JOB, "uid/1")).isFalse();
  }

  @Test
  void whatIsEvictedOrGoneNeedsTheJobNoMore() throws Exception {
    given(0, 1, in("remote"));
    given(1, 2, in("remote"));
    assertThat(groups.isUsed(JOB, "serve-0", "remote")).isTrue();

    given(1, 3, holding(", {'type': 'Evicted', 'status': 'True'}"));
    assertThat(groups.isUsed(JOB, "serve-0", "remote")).isFalse();
    assertThat(groups.stopping(JOB, workload(0))).containsExactly(new Key("physics", "serve-1"));

    CachedWorkload last = workload(1);
    workloads.workloads.remove("serve-1");
    groups.changed(last, null);
    assertThat(groups.stopping(JOB, workload(0))).isEmpty();
    assertThat(groups.count(JOB)).isEqualTo(1);
  }
}
