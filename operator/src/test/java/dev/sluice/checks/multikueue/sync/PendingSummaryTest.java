package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.checks.multikueue.placement.ManagerState;
import dev.sluice.checks.multikueue.placement.ManagerState.Check;
import dev.sluice.checks.multikueue.placement.WorkerState;
import dev.sluice.checks.multikueue.placement.WorkerState.Copy;
import dev.sluice.checks.multikueue.placement.WorkerState.Difference;
import dev.sluice.checks.multikueue.sync.PlacementPlanner.PendingSummary;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PendingSummaryTest {

  private static final ClusterCandidates ALL =
      new ClusterCandidates(List.of("onsite", "remote", "third"), Map.of());

  private final Map<String, WorkerState> workerStates = new HashMap<>();

  PendingSummaryTest() {
    for (String name : ALL.configured()) {
      workerStates.put(name, new WorkerState(true, Optional.empty(), Optional.empty()));
    }
  }

  private static ManagerState local(Check check, boolean othersReady, String... nominated) {
    return new ManagerState(
        false,
        true,
        false,
        check,
        othersReady,
        new ManagerState.Sendable.Yes(),
        Optional.empty(),
        List.of(nominated),
        Optional.empty());
  }

  private void tells(String cluster, String what) {
    Copy copy =
        new Copy(Optional.empty(), Optional.empty(), Optional.empty(), Difference.NONE, what);
    workerStates.put(cluster, new WorkerState(true, Optional.empty(), Optional.of(copy)));
  }

  @Test
  void eachClusterSaysOneThingInTheOrderOfTheConfig() {
    tells("remote", "waits for quota: 2 more cpu needed");
    workerStates.put(
        "onsite",
        new WorkerState(
            false, Optional.of(Instant.parse("2026-03-01T12:00:00.25Z")), Optional.empty()));

    assertThat(PendingSummary.of(local(Check.PENDING, true, "onsite", "remote"), ALL, workerStates))
        .isEqualTo(
            "onsite: not connected since 2026-03-01T12:00:00Z; remote: waits for quota: 2 more cpu"
                + " needed; third: not asked yet");
  }

  @Test
  void whoIsExcludedIsNamedToo() {
    ClusterCandidates two =
        new ClusterCandidates(
            ALL.configured(), Map.of("onsite", "not allowed", "third", "not allowed"));

    assertThat(PendingSummary.of(local(Check.PENDING, true, "remote"), two, workerStates))
        .isEqualTo("onsite: not allowed; remote: is being asked; third: not allowed");
  }

  @Test
  void whenNobodyIsAllowedThatIsSaidFirst() {
    ClusterCandidates none =
        new ClusterCandidates(List.of("onsite", "remote"), Map.of("onsite", "x", "remote", "y"));

    assertThat(PendingSummary.of(local(Check.PENDING, true), none, workerStates))
        .isEqualTo("No worker cluster is allowed; onsite: x; remote: y");
  }

  @Test
  void nothingIsSaidOnceAWorkerAdmittedIt() {
    Copy admitted =
        new Copy(
            Optional.empty(),
            Optional.empty(),
            Optional.of(Instant.parse("2026-03-01T12:00:00Z")),
            Difference.NONE,
            "admitted it");
    workerStates.put("remote", new WorkerState(true, Optional.empty(), Optional.of(admitted)));
    ManagerState pending = local(Check.PENDING, true, "onsite", "remote");
    assertThat(PendingSummary.of(pending, ALL, workerStates)).isEmpty();

    workerStates.put(
        "remote",
        new WorkerState(
            false, Optional.of(Instant.parse("2026-03-01T12:00:05Z")), Optional.of(admitted)));
    assertThat(PendingSummary.of(pending, ALL, workerStates))
        .isEqualTo(
            "onsite: is being asked; remote: not connected since 2026-03-01T12:00:05Z;"
                + " third: not asked yet");
  }

  @Test
  void nothingIsSaidOfOneThatNobodyIsAskedFor() {
    assertThat(PendingSummary.of(local(Check.READY, true), ALL, workerStates)).isEmpty();
    assertThat(PendingSummary.of(local(Check.PENDING, false), ALL, workerStates)).isEmpty();
  }
}
