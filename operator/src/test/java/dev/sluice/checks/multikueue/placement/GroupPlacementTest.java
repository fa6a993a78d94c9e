package dev.sluice.checks.multikueue.placement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.placement.GroupPlacement.Choice;
import dev.sluice.checks.multikueue.placement.GroupPlacement.Member;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Where the Workloads of a job with several Workloads may go. */
class GroupPlacementTest {

  private static final ClusterCandidates BOTH =
      new ClusterCandidates(List.of("onsite", "remote"), Map.of());

  private static Member asking(int index) {
    return new Member("w" + index, index, true, Optional.empty());
  }

  private static Member idle(int index) {
    return new Member("w" + index, index, false, Optional.empty());
  }

  private static Member in(String cluster, int index) {
    return new Member("w" + index, index, true, Optional.of(cluster));
  }

  @Test
  void theLowestIndexThatHoldsQuotaChooses() {
    assertThat(GroupPlacement.of(asking(0), List.of(asking(1), asking(2))))
        .isEqualTo(new Choice.Free());
    assertThat(GroupPlacement.of(asking(2), List.of(asking(1), asking(0))))
        .isEqualTo(new Choice.Await("w0"));
    assertThat(GroupPlacement.of(asking(1), List.of(idle(0), asking(2))))
        .isEqualTo(new Choice.Free());
  }

  @Test
  void allFollowOneThatRunsWhateverItsIndex() {
    assertThat(GroupPlacement.of(asking(0), List.of(in("remote", 2), asking(1))))
        .isEqualTo(new Choice.Follow("remote"));
    assertThat(GroupPlacement.of(asking(3), List.of(asking(0), in("remote", 2), in("onsite", 1))))
        .isEqualTo(new Choice.Follow("onsite"));
  }

  @Test
  void whatIsLeftSaysWhy() {
    ClusterCandidates followed =
        GroupPlacement.limit(BOTH, new Choice.Follow("remote"), OptionalInt.empty());
    assertThat(followed.allowed()).containsExactly("remote");
    assertThat(followed.excluded())
        .containsEntry("onsite", "other Workloads of the job run in worker cluster \"remote\"");

    ClusterCandidates awaited =
        GroupPlacement.limit(BOTH, new Choice.Await("w0"), OptionalInt.empty());
    assertThat(awaited.allowed()).isEmpty();
    assertThat(awaited.excluded()).containsEntry("onsite", "Workload w0 of the job chooses");
  }

  @Test
  void nothingIsChosenBeforeAllWorkloadsAreThere() {
    ClusterCandidates waiting = GroupPlacement.limit(BOTH, new Choice.Free(), OptionalInt.of(1));
    assertThat(waiting.allowed()).isEmpty();
    assertThat(waiting.excluded())
        .containsEntry("remote", "the job doesn't have all of its Workloads yet");
    // a rollout may have made more than the job is to have
    assertThat(GroupPlacement.limit(BOTH, new Choice.Free(), OptionalInt.of(-1))).isEqualTo(BOTH);
    assertThat(GroupPlacement.limit(BOTH, new Choice.Free(), OptionalInt.empty())).isEqualTo(BOTH);
  }
}
