package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyAssignment.Domain;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.topology.FailedNodeController.WorkloadsByNode;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Admission;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.History;
import dev.sluice.workload.record.CachedWorkload.RemotePlacement;
import dev.sluice.workload.record.CachedWorkload.Status;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which Workloads a change of a node concerns. */
class WorkloadsByNodeTest {

  private static final PodStore.Key ONE = new PodStore.Key("ns", "one");
  private static final PodStore.Key TWO = new PodStore.Key("ns", "two");

  private final WorkloadsByNode workloads = new WorkloadsByNode();

  private static CachedWorkload workload(PodStore.Key key, String level, String... nodes) {
    TopologyAssignment places =
        new TopologyAssignment(
            List.of(level),
            Arrays.stream(nodes).map(node -> new Domain(List.of(node), 1)).toList());
    Optional<Admission> admission =
        nodes.length == 0
            ? Optional.empty()
            : Optional.of(
                new Admission(
                    "cq",
                    List.of(
                        new Assignment(
                            "main", Map.of(), Map.of(), nodes.length, Optional.of(places), ""))));
    return new CachedWorkload(
        new WorkloadId("uid-" + key.workload(), key.namespace(), key.workload()),
        1,
        1,
        Instant.EPOCH,
        false,
        List.of(),
        true,
        Optional.empty(),
        Map.of(),
        Map.of(),
        new CachedWorkload.Spec("lq", List.of(), 0, Optional.empty(), true, 0),
        new Status(
            List.of(),
            admission,
            List.of(),
            Map.of(),
            Optional.empty(),
            History.NONE,
            false,
            RemotePlacement.NOWHERE,
            List.of(),
            List.of()));
  }

  private static CachedWorkload onNodes(PodStore.Key key, String... nodes) {
    return workload(key, "kubernetes.io/hostname", nodes);
  }

  @Test
  void theWorkloadsOfANodeFollowTheirAssignments() {
    workloads.changed(null, onNodes(ONE, "a", "b"));
    workloads.changed(null, onNodes(TWO, "b"));
    assertThat(workloads.of("a")).containsExactly(ONE);
    assertThat(workloads.of("b")).containsExactlyInAnyOrder(ONE, TWO);
    assertThat(workloads.of("c")).isEmpty();

    workloads.changed(onNodes(ONE, "a", "b"), onNodes(ONE, "b", "c"));
    assertThat(workloads.of("a")).isEmpty();
    assertThat(workloads.of("b")).containsExactlyInAnyOrder(ONE, TWO);
    assertThat(workloads.of("c")).containsExactly(ONE);

    workloads.changed(onNodes(ONE, "b", "c"), onNodes(ONE));
    workloads.changed(onNodes(TWO, "b"), null);
    assertThat(workloads.of("b")).isEmpty();
    assertThat(workloads.of("c")).isEmpty();
  }

  @Test
  void domainsThatAreNoNodesAreNotKept() {
    workloads.changed(null, workload(ONE, "rack", "r1"));
    assertThat(workloads.of("r1")).isEmpty();
  }
}
