package dev.sluice.kinds;

import static dev.sluice.testing.ManagerAndWorkers.ONSITE;
import static dev.sluice.testing.ManagerAndWorkers.REMOTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedKinds;
import dev.sluice.lab.player.PlayedKinds.PlayedLeaderWorkerSet;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ManagerAndWorkers;
import dev.sluice.testing.MultiCluster;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each kind that has a manifest goes through each situation of a job that is sent to a worker: a
 * manager and two workers on real control planes, an operator in each. The own controllers of kinds
 * run in the workers only, as nobody but the manager's operator may touch its objects; that of a
 * kind whose pods are made here, too, runs in the manager as well. The cells are those of
 * docs/job-kinds.md: the last method fails where one was not gone through.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.CONCURRENT)
@Order(1) // long ones begin early
@Tag("scenario")
@Tag(BuildBreadth.NIGHTLY)
class EveryKindMultiKueueIT {

  @RegisterExtension final FailedMethods failedMethods = new FailedMethods();

  /** Who reads it needs both workers. */
  private static final String WORKERS = "dev.sluice.kinds.workers";

  private static final String LONG = "30m";
  private static final String SHORT = "1s";

  private final Map<String, Set<RemoteSituation>> shown = new ConcurrentHashMap<>();

  @SuppressWarnings("NullAway.Init") // made before all tests
  private ManagerAndWorkers running;

  @SuppressWarnings("NullAway.Init") // made before all tests
  private List<PlayedKinds> players;

  @SuppressWarnings("NullAway.Init") // made before all tests
  private KindPlayer sets;

  static List<KindRow> kinds() {
    return KindRow.all().stream().filter(row -> !row.remoteSituations().isEmpty()).toList();
  }

  @BeforeAll
  void start() {
    running =
        ManagerAndWorkers.start(
            new ManagerAndWorkers.Options(
                EveryKindIT.FRAMEWORKS + "\nmultiKueue: {workerLostTimeout: 60s, gcInterval: 2s}\n",
                EveryKindIT.FRAMEWORKS,
                true));
    PlayedKinds.all().forEach(played -> PlayedDefinitions.install(running.manager(), played));
    sets = new KindPlayer(running.manager(), new PlayedLeaderWorkerSet());
    players =
        ManagerAndWorkers.WORKERS.stream()
            .map(worker -> PlayedKinds.play(running.worker(worker)))
            .toList();
  }

  /** Builds that leave out the tag {@code faults} play no outage. */
  private volatile boolean outagePlayed;

  @AfterAll
  void everyCellWasShown() {
    players.forEach(PlayedKinds::close);
    sets.close();
    running.close();
    if (failedMethods.any() || shown.size() < kinds().size()) {
      return; // a method says what failed, or only some of them were run
    }
    for (KindRow row : kinds()) {
      Set<RemoteSituation> declared = new HashSet<>(row.remoteSituations());
      if (!outagePlayed) {
        declared.remove(RemoteSituation.LOST);
      }
      assertThat(shown.getOrDefault(row.name(), Set.of()))
          .as(row.name())
          .containsExactlyInAnyOrderElementsOf(declared);
    }
  }

  private void show(KindRow row, RemoteSituation... situations) {
    shown
        .computeIfAbsent(row.name(), key -> new ConcurrentSkipListSet<>())
        .addAll(List.of(situations));
  }

  @ResourceLock(value = WORKERS, mode = ResourceAccessMode.READ)
  @ParameterizedTest
  @MethodSource("kinds")
  void aJobIsSentIsStoppedHereIsSentAgainAndEndsWell(KindRow row) {
    try (MultiCluster clusters = running.share()) {
      RemoteLife life = new RemoteLife(clusters, row);
      life.submit(row.manifest().runningFor(LONG));
      life.awaitRunning();
      show(row, RemoteSituation.SENT);
      life.awaitStatus();
      show(row, RemoteSituation.STATUS);

      if (row.remoteSituations().contains(RemoteSituation.STOPPED)) {
        life.activate(false);
        life.awaitStopped();
        show(row, RemoteSituation.STOPPED);
        life.activate(true);
        life.awaitRunning();
        life.awaitStatus();
        show(row, RemoteSituation.SENT_AGAIN);
      }
      if (row.remoteSituations().contains(RemoteSituation.FINISHED)) {
        life.endPods();
        life.awaitEnd("Succeeded");
        show(row, RemoteSituation.FINISHED);
      }
      life.delete();
    }
  }

  @ResourceLock(value = WORKERS, mode = ResourceAccessMode.READ)
  @ParameterizedTest
  @MethodSource("kinds")
  void aJobThatItsWorkerPreemptsRunsInTheOtherAndIsDeleted(KindRow row) {
    try (MultiCluster clusters = running.share()) {
      RemoteLife life = new RemoteLife(clusters, row);
      life.submit(row.manifest().runningFor(LONG));
      String first = life.awaitRunning();
      if (row.remoteSituations().contains(RemoteSituation.MOVED)) {
        life.preempt(first);
        life.awaitRunningIn(MultiCluster.other(first));
        life.awaitStatus();
        show(row, RemoteSituation.MOVED);
      }
      life.delete();
      show(row, RemoteSituation.DELETED);
    }
  }

  @ResourceLock(value = WORKERS, mode = ResourceAccessMode.READ)
  @Test
  void theGroupsOfASetAreInOneWorkerAndChangeThere() {
    KindRow row =
        kinds().stream()
            .filter(it -> it.name().equals("leaderworkerset"))
            .findFirst()
            .orElseThrow();
    try (MultiCluster clusters = running.share()) {
      RemoteLife life = new RemoteLife(clusters, row);
      life.submit(RemoteGroups.small(row.manifest()));
      life.awaitRunning();
      RemoteGroups groups = new RemoteGroups(life);
      groups.scale(3);
      groups.rollOut(3);
      groups.scale(2);
      groups.stopTheFirst();
      groups.deleteThere();
      life.delete();
    }
  }

  /** One outage for jobs of all kinds, when nobody else needs the worker: some four minutes. */
  @Tag("faults")
  @ResourceLock(WORKERS)
  @Test
  void jobsOfALostWorkerRunInTheOtherAndOnlyThereOnceItIsBack() {
    outagePlayed = true;
    Map<KindRow, RemoteLife> lives = new LinkedHashMap<>();
    List<MultiCluster> shares = new ArrayList<>();
    try {
      for (KindRow row : kinds()) {
        shares.add(running.share());
        RemoteLife life = new RemoteLife(shares.getLast(), row);
        life.hold(REMOTE, true);
        life.submit(row.manifest().runningFor(LONG));
        lives.put(row, life);
      }
      lives.values().forEach(life -> life.awaitRunningIn(ONSITE));

      running.cutOff(ONSITE);
      lives.values().forEach(life -> life.hold(REMOTE, false));
      lives.values().forEach(life -> life.awaitAllIn(REMOTE));
      Map<KindRow, Set<String>> pods = new HashMap<>();
      lives.forEach((row, life) -> pods.put(row, life.podsIn(REMOTE)));

      running.reconnect(ONSITE);
      lives.values().forEach(life -> life.awaitNothingLeftIn(ONSITE));
      lives.forEach(
          (row, life) -> {
            life.awaitRunningIn(REMOTE);
            life.awaitStatus();
            assertThat(life.podsIn(REMOTE)).as(row.name()).isEqualTo(pods.get(row));
            show(row, RemoteSituation.LOST);
          });
    } finally {
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        shares.forEach(share -> threads.execute(share::close));
      }
    }
  }

  static List<KindRow> kindsThatFail() {
    return kinds().stream()
        .filter(row -> row.remoteSituations().contains(RemoteSituation.FAILED))
        .toList();
  }

  @ResourceLock(value = WORKERS, mode = ResourceAccessMode.READ)
  @ParameterizedTest
  @MethodSource("kindsThatFail")
  void aJobThatFailsThereHasFailedHere(KindRow row) {
    try (MultiCluster clusters = running.share()) {
      RemoteLife life = new RemoteLife(clusters, row);
      life.submit(row.manifest().runningFor(SHORT).failing());
      life.awaitEnd("Failed");
      show(row, RemoteSituation.FAILED);
    }
  }
}
