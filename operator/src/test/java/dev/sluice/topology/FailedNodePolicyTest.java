package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyAssignment.Domain;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.topology.NodeState.Readiness;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Admission;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.History;
import dev.sluice.workload.record.CachedWorkload.RemotePlacement;
import dev.sluice.workload.record.CachedWorkload.Status;
import java.time.Instant;
import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Which nodes of a Workload on a, b and c have failed. */
class FailedNodePolicyTest {

  private static final Instant NOW = Instant.parse("2026-01-01T00:01:00Z");
  private static final FailedNodePolicy DEFAULT = new FailedNodePolicy(true, true, false, false);

  private final Map<String, NodeState> nodes = new HashMap<>();
  private final List<TopologyPod> pods = new ArrayList<>();
  private List<Toleration> tolerations = List.of();
  private Instant now = NOW;
  private final Set<String> full = new HashSet<>();

  FailedNodePolicyTest() {
    for (String name : List.of("a", "b", "c")) {
      node(name, Readiness.READY);
      pod(name, false);
    }
  }

  private void node(String name, Readiness readiness, Taint... taints) {
    nodes.put(
        name,
        new NodeState(
            new ClusterNode(
                name, Map.of(), List.of(taints), new TreeMap<>(), readiness == Readiness.READY),
            readiness,
            readiness == Readiness.NOT_READY ? NOW : Instant.EPOCH));
  }

  private void pod(String node, boolean deleting) {
    pods.removeIf(pod -> pod.node().equals(node));
    pods.add(onNode(node, node, deleting));
  }

  private static TopologyPod onNode(String hostname, String name, boolean deleting) {
    return new TopologyPod(
        "ns",
        "p-" + name,
        "u-" + name,
        "1",
        "w",
        "main",
        Map.of(),
        0,
        List.of(),
        Map.of("kubernetes.io/hostname", hostname),
        TopologyPod.Binding.to(name),
        deleting);
  }

  private boolean hasRoom(NodeState node, TopologyPod pod) {
    return !full.contains(node.node().name());
  }

  /** A pod that was sent to a node, and that the scheduler finds no node for. */
  private TopologyPod unschedulable(String node, Instant since) {
    return new TopologyPod(
        "ns",
        "late-" + node,
        "u-late-" + node,
        "1",
        "w",
        "main",
        Map.of(),
        0,
        List.of(),
        Map.of("kubernetes.io/hostname", node),
        new TopologyPod.Binding("", Optional.of(since)),
        false);
  }

  private static CachedWorkload workload(List<String> levels, String... unhealthy) {
    return workload(levels, List.of("a", "b", "c"), unhealthy);
  }

  private static CachedWorkload workload(
      List<String> levels, List<String> placed, String... unhealthy) {
    List<Domain> domains = new ArrayList<>();
    for (String name : placed) {
      domains.add(new Domain(List.of(name), 1));
    }
    Assignment assignment =
        new Assignment(
            "main",
            Map.of(),
            Map.of(),
            placed.size(),
            Optional.of(new TopologyAssignment(levels, domains)),
            "");
    return new CachedWorkload(
        new WorkloadId("uid", "ns", "w"),
        1,
        1,
        NOW,
        false,
        List.of(),
        true,
        Optional.empty(),
        Map.of(),
        Map.of(),
        new CachedWorkload.Spec("lq", List.of(), 0, Optional.empty(), true, 0),
        new Status(
            List.of(),
            Optional.of(new Admission("cq", List.of(assignment))),
            List.of(),
            Map.of(),
            Optional.empty(),
            History.NONE,
            false,
            RemotePlacement.NOWHERE,
            List.of(),
            List.of(unhealthy)));
  }

  private FailedNodePolicy.NodeVerdict verdict(FailedNodePolicy policy, String... unhealthy) {
    return verdict(policy, workload(List.of("kubernetes.io/hostname"), unhealthy));
  }

  private FailedNodePolicy.NodeVerdict verdict(FailedNodePolicy policy, CachedWorkload workload) {
    return policy.of(
        workload,
        new FailedNodePolicy.NodeContext(
            name -> Optional.ofNullable(nodes.get(name)),
            pods,
            any -> tolerations,
            this::hasRoom,
            now));
  }

  @Test
  void aNodeThatIsGoneOrSaysNothingHasFailedAtOnce() {
    assertThat(verdict(DEFAULT).unhealthy()).isEmpty();
    nodes.remove("b");
    assertThat(verdict(DEFAULT).unhealthy()).containsExactly("b");
    assertThat(verdict(DEFAULT).evicted()).isEmpty();
    node("b", Readiness.MISSING);
    assertThat(verdict(DEFAULT, "b").unhealthy()).containsExactly("b");
    node("b", Readiness.READY);
    assertThat(verdict(DEFAULT, "b").unhealthy()).as("recovered").isEmpty();
  }

  /** A cloud's name of a node may be another one than what its system calls itself. */
  @Test
  void aNodeIsKnownByItsHostnameAndItsPodsByItsName() {
    named("b", "10-0-0-7.example", Readiness.READY);
    assertThat(verdict(DEFAULT).unhealthy()).isEmpty();
    named("b", "10-0-0-7.example", Readiness.NOT_READY);
    assertThat(verdict(DEFAULT).unhealthy()).as("a pod is there").isEmpty();
    pods.removeIf(pod -> pod.target().equals("b"));
    assertThat(verdict(DEFAULT).unhealthy()).containsExactly("b");

    named("b", "10-0-0-7.example", Readiness.READY);
    pods.removeIf(pod -> pod.target().equals("b"));
    full.add("10-0-0-7.example");
    pods.add(unschedulable("b", NOW.minusSeconds(60)));
    assertThat(verdict(DEFAULT).unhealthy()).as("a pod finds no room").containsExactly("b");
  }

  /** Gives a node another name than its hostname; its pod is bound to that. */
  private void named(String hostname, String name, Readiness readiness) {
    node(name, readiness);
    nodes.put(hostname, Objects.requireNonNull(nodes.remove(name)));
    pods.removeIf(pod -> pod.node().equals(hostname));
    pods.add(onNode(hostname, name, false));
  }

  /** Gate TASReplaceNodeOnPodTermination. */
  @Test
  void aNodeThatIsNotReadyFailsWhenItsPodsAreGone() {
    node("b", Readiness.NOT_READY);
    assertThat(verdict(DEFAULT).unhealthy()).isEmpty();
    pod("b", true);
    assertThat(verdict(DEFAULT).unhealthy()).containsExactly("b");
    assertThat(verdict(new FailedNodePolicy(false, true, false, false)).unhealthy()).isEmpty();
    pods.removeIf(pod -> pod.node().equals("b"));
    assertThat(verdict(DEFAULT).unhealthy()).containsExactly("b");
  }

  @Test
  void theDeprecatedGateWaitsForHalfAMinute() {
    // with the gate TASReplaceNodeDueToNotReadyOverFixedTime
    FailedNodePolicy fixed = new FailedNodePolicy(false, true, true, false);
    node("b", Readiness.NOT_READY);
    assertThat(verdict(fixed).unhealthy()).isEmpty();
    assertThat(verdict(fixed).lookAgainAt()).contains(NOW.plusSeconds(30));
    assertThat(verdict(DEFAULT).lookAgainAt()).isEmpty();
    now = NOW.plusSeconds(30);
    assertThat(verdict(fixed).unhealthy()).containsExactly("b");
    assertThat(verdict(DEFAULT).unhealthy()).isEmpty();
  }

  /** Gate TASReplaceNodeOnNodeTaints. */
  @Test
  void aTaintThatIsNotToleratedIsAFailureWhenThePodsAreGone() {
    pods.clear();
    node("b", Readiness.READY, new Taint("broken", "", "PreferNoSchedule"));
    assertThat(verdict(DEFAULT).unhealthy()).isEmpty();
    node("b", Readiness.READY, new Taint("broken", "", "NoSchedule"));
    assertThat(verdict(DEFAULT).unhealthy()).containsExactly("b");
    assertThat(verdict(new FailedNodePolicy(true, false, false, false)).unhealthy()).isEmpty();
    tolerations = List.of(new Toleration("broken", "Exists", "", "NoSchedule"));
    assertThat(verdict(DEFAULT).unhealthy()).isEmpty();
    tolerations = List.of();
    pod("b", false);
    assertThat(verdict(DEFAULT).unhealthy()).isEmpty();
  }

  @Test
  void aTaintThatIsToleratedForATimeIsAFailureWhenPodsAreTakenOffTheNode() {
    tolerations = List.of(new Toleration("broken", "Exists", "", "", true));
    node("b", Readiness.READY, new Taint("broken", "", "NoExecute"));
    assertThat(verdict(DEFAULT).unhealthy()).as("the pod runs").isEmpty();
    pod("b", true);
    assertThat(verdict(DEFAULT).unhealthy()).as("the pod is taken off").containsExactly("b");
    pods.removeIf(pod -> pod.node().equals("b"));
    assertThat(verdict(DEFAULT, "b").unhealthy()).as("the pod is gone").containsExactly("b");
    assertThat(verdict(DEFAULT).unhealthy()).as("no pod was there").isEmpty();
    node("b", Readiness.READY, new Taint("broken", "", "NoSchedule"));
    assertThat(verdict(DEFAULT, "b").unhealthy()).as("nothing takes pods off").isEmpty();
    node("b", Readiness.READY, new Taint("broken", "", "NoExecute"));
    tolerations = List.of(new Toleration("broken", "Exists", "", ""), tolerations.getFirst());
    assertThat(verdict(DEFAULT, "b").unhealthy()).as("tolerated for good").isEmpty();
  }

  @Test
  void aSecondFailedNodeEvictsUnlessTheFirstHasRecovered() {
    nodes.remove("b");
    nodes.remove("c");
    assertThat(verdict(DEFAULT, "c").evicted()).contains("Several of its nodes failed: c, b");
    assertThat(verdict(DEFAULT).evicted()).contains("Several of its nodes failed: b, c");
    node("c", Readiness.READY);
    assertThat(verdict(DEFAULT, "c").evicted()).isEmpty();
    assertThat(verdict(DEFAULT, "c").unhealthy()).containsExactly("b");
  }

  /** Changes of 0.20, section 4, TASReplaceMultipleFailedNodes. */
  @Test
  void severalFailedNodesAreListedWithTheGate() {
    FailedNodePolicy several = new FailedNodePolicy(true, true, false, true);
    nodes.remove("b");
    nodes.remove("c");
    assertThat(verdict(several, "c").evicted()).isEmpty();
    assertThat(verdict(several, "c").unhealthy()).containsExactly("c", "b");
    assertThat(verdict(several).unhealthy()).containsExactly("b", "c");
    node("c", Readiness.READY);
    assertThat(verdict(several, "c", "b").unhealthy()).containsExactly("b");
  }

  /** Changes of 0.20, section 4, TASReplaceMultipleFailedNodes: 1 to 8 of them. */
  @Test
  void atMostEightFailedNodesAreReplaced() {
    FailedNodePolicy several = new FailedNodePolicy(true, true, false, true);
    List<String> placed = List.of("n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8");
    CachedWorkload workload = workload(List.of("kubernetes.io/hostname"), placed);
    node("n8", Readiness.READY);
    pod("n8", false);
    assertThat(verdict(several, workload).evicted()).isEmpty();
    assertThat(verdict(several, workload).unhealthy()).isEqualTo(placed.subList(0, 8));

    nodes.remove("n8");
    assertThat(verdict(several, workload).evicted())
        .contains("Several of its nodes failed: " + String.join(", ", placed));
    assertThat(verdict(several, workload).unhealthy()).isEmpty();
  }

  @Test
  void podsThatWaitForAFailedNodeAreStranded() {
    TopologyPod waiting = sentTo("b", "main");
    pods.removeIf(pod -> pod.node().equals("b"));
    pods.add(waiting);
    assertThat(stranded("b")).as("healthy").isEmpty();
    node("b", Readiness.NOT_READY);
    assertThat(stranded()).as("not listed yet").isEmpty();
    assertThat(stranded("b")).containsExactly(waiting);
    nodes.remove("d");
    TopologyPod former = sentTo("d", "main");
    pods.clear();
    pods.add(former);
    assertThat(stranded()).as("the node was replaced already").containsExactly(former);
    node("d", Readiness.READY);
    assertThat(stranded()).isEmpty();
  }

  /** Which pod set a pod belongs to isn't known: it is one of those that it may belong to. */
  @Test
  void aPodWithoutTheLabelOfItsPodSetIsStrandedOnANodeThatWasReplaced() {
    pods.clear();
    pods.add(sentTo("d", ""));
    assertThat(stranded()).hasSize(1);
    pods.add(sentTo("d", "other"));
    assertThat(stranded()).as("there is no such pod set").hasSize(1);
    node("d", Readiness.READY);
    assertThat(stranded()).isEmpty();
    pods.clear();
    pods.add(sentTo("b", ""));
    nodes.remove("b");
    assertThat(stranded()).as("assigned, and not listed yet").isEmpty();
    assertThat(stranded("b")).hasSize(1);
  }

  @Test
  void podsAreSentToANodeOnceNothingHoldsThemAndUntilTheyAreBound() {
    TopologyPod sent = sentTo("b", "");
    TopologyPod gated =
        new TopologyPod(
            "ns",
            "g",
            "u-g",
            "1",
            "w",
            "main",
            Map.of(),
            0,
            List.of("any"),
            Map.of(),
            TopologyPod.Binding.to(""),
            false);
    TopologyPod anywhere = gated.ungated(Map.of());
    assertThat(FailedNodePolicy.sent(List.of(sent, gated, anywhere, pods.getFirst())))
        .containsExactly(sent);
  }

  private static TopologyPod sentTo(String node, String podSet) {
    return new TopologyPod(
        "ns",
        "sent",
        "u-sent-" + podSet,
        "1",
        "w",
        podSet,
        Map.of(),
        0,
        List.of(),
        Map.of("kubernetes.io/hostname", node),
        TopologyPod.Binding.to(""),
        false);
  }

  private List<TopologyPod> stranded(String... unhealthy) {
    return DEFAULT.stranded(
        workload(List.of("kubernetes.io/hostname"), unhealthy),
        new FailedNodePolicy.NodeContext(
            name -> Optional.ofNullable(nodes.get(name)),
            pods,
            any -> tolerations,
            this::hasRoom,
            now));
  }

  @Test
  void aNodeWithoutRoomForAPodIsReplacedAfterAWhile() {
    pods.removeIf(pod -> pod.node().equals("b"));
    pods.add(unschedulable("b", NOW));
    now = NOW.plusSeconds(60);
    assertThat(verdict(DEFAULT).unhealthy()).as("something else keeps the pod off").isEmpty();
    full.add("b");
    now = NOW.plusSeconds(9);
    assertThat(verdict(DEFAULT).unhealthy()).isEmpty();
    assertThat(verdict(DEFAULT).lookAgainAt()).contains(NOW.plusSeconds(10));
    now = NOW.plusSeconds(10);
    assertThat(verdict(DEFAULT).unhealthy()).containsExactly("b");
    assertThat(verdict(DEFAULT).evicted()).isEmpty();
    assertThat(verdict(DEFAULT, "b").unhealthy()).as("until it is replaced").containsExactly("b");
    assertThat(stranded("b")).as("the pod shows that the node is full").isEmpty();

    TopologyPod former = unschedulable("d", NOW);
    node("d", Readiness.READY);
    pods.add(former);
    assertThat(stranded()).as("there is room by now").isEmpty();
    full.add("d");
    assertThat(stranded()).as("another node was found").containsExactly(former);
  }

  @Test
  void aNodeWithRoomForSomeOfThePodsEvicts() {
    full.add("b");
    pods.add(unschedulable("b", NOW));
    assertThat(verdict(DEFAULT).evicted()).isEmpty();
    now = NOW.plusSeconds(10);
    assertThat(verdict(DEFAULT).evicted()).contains("No room for all of its pods on b");
  }

  /** Each change of one of them asks: it must not look at all pods for each node. */
  @Test
  void aWorkloadOfManyPodsIsJudgedByLookingAtEachOnce() {
    AtomicInteger looks = new AtomicInteger();
    List<String> placed = new ArrayList<>();
    pods.clear();
    for (int i = 0; i < 100; i++) {
      placed.add("n" + i);
      node("n" + i, i % 2 == 0 ? Readiness.READY : Readiness.NOT_READY);
      pod("n" + i, false);
      pods.add(unschedulable("n" + i, NOW));
    }
    CachedWorkload workload = workload(List.of("kubernetes.io/hostname"), placed);
    FailedNodePolicy.NodeContext context =
        new FailedNodePolicy.NodeContext(
            name -> Optional.ofNullable(nodes.get(name)),
            new AbstractCollection<>() {
              @Override
              public Iterator<TopologyPod> iterator() {
                looks.incrementAndGet();
                return pods.iterator();
              }

              @Override
              public int size() {
                return pods.size();
              }
            },
            any -> tolerations,
            this::hasRoom,
            now);
    assertThat(DEFAULT.of(workload, context).unhealthy()).isEmpty();
    assertThat(DEFAULT.stranded(workload, context)).isEmpty();
    assertThat(looks).as("times that all pods were looked at").hasValueLessThan(10);
  }

  @Test
  void domainsThatAreNoNodesDontFail() {
    nodes.clear();
    assertThat(
            DEFAULT
                .of(
                    workload(List.of("rack")),
                    new FailedNodePolicy.NodeContext(
                        name -> Optional.empty(),
                        List.of(),
                        any -> List.of(),
                        (node, pod) -> true,
                        NOW))
                .unhealthy())
        .isEmpty();
  }
}
