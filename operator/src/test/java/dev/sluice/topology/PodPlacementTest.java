package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyAssignment.Domain;
import dev.sluice.topology.PodPlacement.PodRanking;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which pod goes to which domain, and which stays gated. */
class PodPlacementTest {

  private static final String HOST = "kubernetes.io/hostname";
  private static final String INDEX = "batch.kubernetes.io/job-completion-index";
  private static final PodRanking BY_INDEX = new PodRanking(INDEX, "", 0, 0);

  /** Two pods on a, one on b, two on c. */
  private static final TopologyAssignment ABC = hosts("a", 2, "b", 1, "c", 2);

  private static TopologyAssignment hosts(Object... namesAndCounts) {
    List<Domain> domains = new ArrayList<>();
    for (int i = 0; i < namesAndCounts.length; i += 2) {
      domains.add(new Domain(List.of((String) namesAndCounts[i]), (Integer) namesAndCounts[i + 1]));
    }
    return new TopologyAssignment(List.of(HOST), domains);
  }

  private static TopologyPod pod(
      String name, Map<String, Integer> indexes, int offset, boolean deleting, String host) {
    return new TopologyPod(
        "default",
        name,
        "uid-" + name,
        "1",
        "workload",
        "main",
        indexes,
        offset,
        host.isEmpty() ? List.of(KueueConstants.TOPOLOGY_GATE) : List.of(),
        host.isEmpty() ? Map.of() : Map.of(HOST, host, "zone", "x"),
        TopologyPod.Binding.to(""),
        deleting);
  }

  private static TopologyPod gated(int index) {
    return pod("p" + index, Map.of(INDEX, index), 0, false, "");
  }

  private static TopologyPod running(int index, String host) {
    return pod("p" + index, Map.of(INDEX, index), 0, false, host);
  }

  private static Map<String, String> placed(
      TopologyAssignment assignment,
      PodRanking ranking,
      Set<String> unhealthy,
      TopologyPod... pods) {
    return PodPlacement.of(assignment, ranking, unhealthy, Arrays.asList(pods)).stream()
        .collect(
            Collectors.toMap(
                it -> it.pod().name(), it -> it.nodeSelector().getOrDefault(HOST, "")));
  }

  @Test
  void podsGoToTheDomainOfTheirRank() {
    assertThat(placed(ABC, BY_INDEX, Set.of(), gated(4), gated(2), gated(0), gated(3), gated(1)))
        .isEqualTo(Map.of("p0", "a", "p1", "a", "p2", "b", "p3", "c", "p4", "c"));
  }

  @Test
  void aPodMayComeBeforeTheOthers() {
    assertThat(placed(ABC, BY_INDEX, Set.of(), gated(3))).isEqualTo(Map.of("p3", "c"));
  }

  @Test
  void aReplacementGoesToTheDomainOfItsRank() {
    assertThat(placed(ABC, BY_INDEX, Set.of(), running(0, "a"), gated(2), running(4, "c")))
        .isEqualTo(Map.of("p2", "b"));
  }

  /** A pod that is being deleted has the same index as the one that replaces it. */
  @Test
  void aPodThatIsBeingDeletedHasNoRank() {
    TopologyPod leaving = pod("old", Map.of(INDEX, 2), 0, true, "b");
    assertThat(placed(ABC, BY_INDEX, Set.of(), running(0, "a"), leaving, gated(2)))
        .isEqualTo(Map.of("p2", "b"));
  }

  @Test
  void withoutLabelTheDomainsAreFilledInOrder() {
    assertThat(placed(ABC, PodRanking.NONE, Set.of(), gated(0), gated(1), gated(2), gated(3)))
        .isEqualTo(Map.of("p0", "a", "p1", "a", "p2", "b", "p3", "c"));
  }

  @Test
  void aPodWithoutIndexMakesAllPodsFillTheDomains() {
    TopologyPod without = pod("q", Map.of(), 0, false, "");
    assertThat(placed(ABC, BY_INDEX, Set.of(), gated(4), without))
        .isEqualTo(Map.of("p4", "a", "q", "a"));
  }

  @Test
  void indexesThatAreNotUniqueAreNoRanks() {
    TopologyPod same = pod("q", Map.of(INDEX, 4), 0, false, "");
    assertThat(placed(ABC, BY_INDEX, Set.of(), gated(4), same))
        .isEqualTo(Map.of("p4", "a", "q", "a"));
  }

  @ParameterizedTest
  @ValueSource(ints = {5, 1_000_000, -1})
  void indexesOutsideThePodSetAreNoRanks(int index) {
    assertThat(placed(ABC, BY_INDEX, Set.of(), gated(4), gated(index)))
        .isEqualTo(Map.of("p4", "a", "p" + index, "a"));
  }

  @Test
  void ranksThatRunningPodsContradictAreNotUsed() {
    assertThat(placed(ABC, BY_INDEX, Set.of(), running(0, "c"), gated(4), gated(3)))
        .isEqualTo(Map.of("p3", "a", "p4", "a"));
  }

  @Test
  void filledDomainsKeepTheirPods() {
    TopologyPod leaving = pod("old", Map.of(), 0, true, "b");
    assertThat(
            placed(
                ABC,
                PodRanking.NONE,
                Set.of(),
                running(0, "a"),
                leaving,
                running(1, "c"),
                gated(2),
                gated(3),
                gated(4)))
        .as("the place of a pod that is being deleted is not free yet")
        .isEqualTo(Map.of("p2", "a", "p3", "c"));
  }

  @Test
  void aPodThatIsBeingDeletedGetsNoDomain() {
    TopologyPod leaving = pod("old", Map.of(INDEX, 0), 0, true, "");
    assertThat(placed(ABC, BY_INDEX, Set.of(), leaving)).isEmpty();
    assertThat(placed(ABC, PodRanking.NONE, Set.of(), leaving)).isEmpty();
  }

  @Test
  void podsBeyondTheAssignmentStayGated() {
    TopologyPod[] pods =
        IntStream.range(0, 7).mapToObj(PodPlacementTest::gated).toArray(TopologyPod[]::new);
    assertThat(placed(ABC, PodRanking.NONE, Set.of(), pods)).hasSize(5);
    assertThat(placed(ABC, BY_INDEX, Set.of(), pods)).hasSize(5);
  }

  @Test
  void podsForAnUnhealthyNodeAreHeld() {
    assertThat(placed(ABC, BY_INDEX, Set.of("a"), gated(0), gated(2))).isEqualTo(Map.of("p2", "b"));
    assertThat(placed(ABC, PodRanking.NONE, Set.of("a"), gated(0), gated(2)))
        .as("healthy nodes are filled first")
        .isEqualTo(Map.of("p0", "b", "p2", "c"));
    assertThat(placed(ABC, PodRanking.NONE, Set.of("a"), gated(0), gated(1), gated(2), gated(3)))
        .isEqualTo(Map.of("p0", "b", "p1", "c", "p2", "c"));
  }

  @Test
  void anOffsetIsSubtracted() {
    TopologyAssignment workers = hosts("a", 1, "b", 1);
    TopologyPod first = pod("w1", Map.of(INDEX, 1), 1, false, "");
    TopologyPod second = pod("w2", Map.of(INDEX, 2), 1, false, "");
    assertThat(placed(workers, BY_INDEX, Set.of(), second, first))
        .isEqualTo(Map.of("w1", "a", "w2", "b"));
  }

  @Test
  void workersOfAGroupComeAfterTheirLeader() {
    TopologyAssignment workers = hosts("a", 1, "b", 1);
    assertThat(placed(workers, new PodRanking(INDEX, "", 0, 1), Set.of(), gated(2), gated(1)))
        .isEqualTo(Map.of("p1", "a", "p2", "b"));
  }

  @Test
  void subgroupsFollowEachOther() {
    String job = "jobset.sigs.k8s.io/job-index";
    PodRanking ranking = new PodRanking(INDEX, job, 2, 0);
    TopologyAssignment four = hosts("a", 1, "b", 1, "c", 1, "d", 1);
    TopologyPod[] pods = new TopologyPod[4];
    for (int i = 0; i < 4; i++) {
      pods[i] = pod("p" + i, Map.of(INDEX, i % 2, job, i / 2), 0, false, "");
    }
    assertThat(placed(four, ranking, Set.of(), pods[3], pods[1], pods[2], pods[0]))
        .isEqualTo(Map.of("p0", "a", "p1", "b", "p2", "c", "p3", "d"));
    TopologyPod alone = gated(1);
    assertThat(placed(four, ranking, Set.of(), alone))
        .as("without its subgroup a pod has no rank")
        .isEqualTo(Map.of("p1", "a"));
  }

  @Test
  void everyLevelIsSelected() {
    TopologyAssignment racks =
        new TopologyAssignment(
            List.of("block", "rack"),
            List.of(new Domain(List.of("b1", "r1"), 1), new Domain(List.of("b2", "r1"), 1)));
    assertThat(PodPlacement.of(racks, BY_INDEX, Set.of("r1"), List.of(gated(0), gated(1))))
        .as("a rack is no node")
        .extracting(PodPlacement.Placed::nodeSelector)
        .containsExactly(Map.of("block", "b1", "rack", "r1"), Map.of("block", "b2", "rack", "r1"));
  }

  @Test
  void anAssignmentWithoutDomainsPlacesNoPod() {
    assertThat(placed(hosts(), BY_INDEX, Set.of(), gated(0))).isEmpty();
    assertThat(
            PodPlacement.of(
                new TopologyAssignment(List.of(), List.of()),
                BY_INDEX,
                Set.of("a"),
                List.of(gated(0))))
        .isEmpty();
  }
}
