package dev.sluice.kinds;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.player.KindManifest;
import dev.sluice.lab.player.PlayedKinds;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each kind that has a manifest goes through each situation on a real control plane. The cells are
 * those of docs/job-kinds.md: the last method fails where one was not gone through. Jobs of
 * different kinds are in namespaces and queues of their own. The daily build has each kind run, be
 * evicted, run again and end, and leaves the rest to profile nightly.
 */
@OperatorTest(configuration = EveryKindIT.FRAMEWORKS)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.CONCURRENT)
@Tag("scenario")
class EveryKindIT {

  @RegisterExtension final FailedMethods failedMethods = new FailedMethods();

  /** All that are integrated; {@link JobKindsPageTest} compares them. */
  static final String FRAMEWORKS =
      "integrations: {frameworks: [batch/job, pod, deployment, statefulset,"
          + " leaderworkerset.x-k8s.io/leaderworkerset, jobset.x-k8s.io/jobset,"
          + " kubeflow.org/pytorchjob, kubeflow.org/tfjob, kubeflow.org/xgboostjob,"
          + " kubeflow.org/paddlejob, kubeflow.org/jaxjob, kubeflow.org/mpijob,"
          + " trainer.kubeflow.org/trainjob, ray.io/rayjob, ray.io/raycluster, ray.io/rayservice,"
          + " workload.codeflare.dev/appwrapper, sparkoperator.k8s.io/sparkapplication]}\n"
          + "featureGates: {SparkApplicationIntegration: true}";

  private static final String LONG = "30m";
  private static final String SHORT = "1s";
  private static final int ENOUGH = 8;

  private final Map<String, Set<Situation>> shown = new ConcurrentHashMap<>();
  private @Nullable PlayedKinds players;

  static List<KindRow> kinds() {
    return KindRow.all();
  }

  @BeforeEach
  synchronized void play(TestCluster cluster) {
    if (players == null) {
      players = PlayedKinds.play(cluster.client());
    }
  }

  @AfterAll
  synchronized void everyCellWasShown() {
    if (players != null) {
      players.close();
    }
    if (!BuildBreadth.full() || failedMethods.any() || shown.size() < kinds().size()) {
      return; // a method says what failed, or only some of them were run
    }
    for (KindRow row : kinds()) {
      Set<Situation> declared = EnumSet.copyOf(row.situations());
      assertThat(shown.getOrDefault(row.name(), Set.of()))
          .as(row.name())
          .containsExactlyInAnyOrderElementsOf(declared);
    }
  }

  private void show(KindRow row, Situation... situations) {
    shown
        .computeIfAbsent(row.name(), key -> new ConcurrentSkipListSet<>())
        .addAll(List.of(situations));
  }

  @ParameterizedTest
  @MethodSource("kinds")
  @Tag(BuildBreadth.NIGHTLY)
  void aJobThatWaitsMovesAndIsDeletedWhileItRuns(KindRow row, TestCluster cluster) {
    KindLife life = new KindLife(cluster, row);
    life.givenQueues(0, ENOUGH);
    life.submit(row.manifest().runningFor(LONG));
    life.awaitHeld();
    show(row, Situation.SUSPENDED, Situation.HELD);

    life.label("kueue.x-k8s.io/priority-class", cluster.name("high"));
    life.awaitWorkloads(
        "its priority",
        workload -> assertThat(workload.at("/spec/priority").asInt()).isEqualTo(100));
    life.awaitHeld();
    show(row, Situation.PRIORITY_CHANGED);

    life.label("kueue.x-k8s.io/queue-name", KindLife.OTHER_QUEUE);
    life.awaitWorkloads(
        "its queue",
        workload ->
            assertThat(workload.at("/spec/queueName").asText()).isEqualTo(KindLife.OTHER_QUEUE));
    life.awaitPods();
    life.awaitCondition("PodsReady", "True");
    show(row, Situation.MOVED);

    life.delete();
    life.awaitNothingLeft();
    show(row, Situation.DELETED_RUNNING);
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void aJobRunsIsEvictedRunsAgainAndEndsWell(KindRow row, TestCluster cluster) {
    KindLife life = new KindLife(cluster, row);
    life.givenQueues(0, 0);
    life.submit(row.manifest().runningFor(LONG));
    JsonNode created = life.job(); // before it may start, which changes its templates
    life.setQuota(KindLife.QUEUE, ENOUGH);
    life.awaitPods();
    life.awaitCondition("PodsReady", "True");
    show(row, Situation.STARTED, Situation.READY, Situation.ONE_WORKLOAD);

    if (row.hasWorkloadsOfPods()) {
      List<String> before = life.podUids();
      life.activate(false);
      life.awaitPodsInPlaceOf(before);
      life.awaitSpec(created.path("spec"));
      show(row, Situation.EVICTED, Situation.STARTED_AGAIN);
    } else if (row.situations().contains(Situation.STARTED_AGAIN)) {
      life.activate(false);
      life.awaitStopped();
      life.awaitSpec(created.path("spec"));
      show(row, Situation.EVICTED);
      life.activate(true);
      life.awaitPods();
      life.awaitCondition("PodsReady", "True");
      show(row, Situation.STARTED_AGAIN);
    }
    if (row.reclaims()) {
      life.endPods(false);
      life.awaitReclaimed();
      show(row, Situation.RECLAIMED);
    }
    if (row.manifest().ends()) {
      life.endPods(true);
      life.awaitEnd("Succeeded");
      show(row, Situation.FINISHED);
    }
    life.delete();
    life.awaitNothingLeft();
  }

  @ParameterizedTest
  @MethodSource("kinds")
  @Tag(BuildBreadth.NIGHTLY)
  void aJobEndsBadlyAndAnotherIsDeletedWhileItWaits(KindRow row, TestCluster cluster) {
    KindLife life = new KindLife(cluster, row);
    life.givenQueues(ENOUGH, 0);
    KindManifest manifest = row.manifest().runningFor(SHORT);
    if (row.situations().contains(Situation.FAILED)) {
      life.submit(manifest.failing());
      life.awaitEnd("Failed");
      show(row, Situation.FAILED);
      life.delete();
      life.awaitNothingLeft();
    }
    if (row.isPods()) {
      life.submit(row.manifest().runningFor(LONG));
      life.awaitPods();
      life.activate(false);
      life.awaitNothingLeft();
      show(row, Situation.EVICTED);
    }
    life.submit(manifest.inQueue(KindLife.OTHER_QUEUE));
    life.awaitHeld();
    life.delete();
    life.awaitNothingLeft();
    show(row, Situation.DELETED_HELD);
  }
}
