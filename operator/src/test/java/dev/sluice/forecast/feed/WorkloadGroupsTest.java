package dev.sluice.forecast.feed;

import static dev.sluice.forecast.feed.RunWorkload.named;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.forecast.feed.RunTimeRecorder.WorkloadGroups;
import dev.sluice.forecast.runtimes.RunTimeGroup;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class WorkloadGroupsTest {

  private static List<RunTimeGroup> of(RunWorkload workload) {
    return WorkloadGroups.of(workload.build(), "research");
  }

  /** The levels at which two Workloads are in one group. */
  private static Set<Level> common(RunWorkload one, RunWorkload other) {
    Set<Level> levels = EnumSet.noneOf(Level.class);
    of(one).stream().filter(of(other)::contains).map(RunTimeGroup::level).forEach(levels::add);
    return levels;
  }

  @Test
  void theyGoFromTheNarrowestToTheWidest() {
    assertThat(of(named("train-x7k2p")))
        .extracting(RunTimeGroup::level)
        .containsExactly(Level.TEMPLATE, Level.NAME, Level.LOCAL_QUEUE, Level.CLUSTER_QUEUE);
    assertThat(of(named("train-x7k2p")))
        .contains(new RunTimeGroup(Level.NAME, "team/train"))
        .contains(new RunTimeGroup(Level.CLUSTER_QUEUE, "research"));
  }

  @Test
  void equalPartsAreOneGroup() {
    RunWorkload one = named("train-x7k2p");
    assertThat(common(one, named("train-0017"))).containsExactlyInAnyOrder(levels(one));
    assertThat(common(one, named("other")))
        .containsExactlyInAnyOrder(Level.TEMPLATE, Level.LOCAL_QUEUE, Level.CLUSTER_QUEUE);
    assertThat(common(one, named("other").with("j", "1000m")))
        .containsExactlyInAnyOrder(Level.LOCAL_QUEUE, Level.CLUSTER_QUEUE);
    assertThat(common(one, named("train-z9z9z").with("j", "2")))
        .containsExactlyInAnyOrder(Level.NAME, Level.CLUSTER_QUEUE);
    assertThat(common(one, named("train").inQueue("cpu")))
        .containsExactlyInAnyOrder(Level.NAME, Level.CLUSTER_QUEUE);
  }

  private static Level[] levels(RunWorkload workload) {
    return of(workload).stream().map(RunTimeGroup::level).toArray(Level[]::new);
  }

  /** Section 2 of the time axis: same user and request shape, after the same name. */
  @Test
  void jobsOfOneUserThatRequestTheSameAreOneGroup() {
    assertThat(of(named("train").of("ada")))
        .extracting(RunTimeGroup::level)
        .containsExactly(
            Level.TEMPLATE, Level.NAME, Level.USER, Level.LOCAL_QUEUE, Level.CLUSTER_QUEUE);
    assertThat(common(named("train").of("ada"), named("other").of("ada").inQueue("cpu")))
        .containsExactlyInAnyOrder(Level.USER, Level.CLUSTER_QUEUE);
    assertThat(common(named("train").of("ada"), named("other").of("ada").with("i", "2")))
        .containsExactlyInAnyOrder(Level.CLUSTER_QUEUE);
    assertThat(common(named("train").of("ada"), named("other").of("grace").inQueue("cpu")))
        .containsExactlyInAnyOrder(Level.CLUSTER_QUEUE);
  }

  @Test
  void withoutQueuesTheNameIsLeft() {
    assertThat(WorkloadGroups.of(named("train").inQueue("").build(), ""))
        .containsExactly(new RunTimeGroup(Level.NAME, "team/train"));
  }
}
