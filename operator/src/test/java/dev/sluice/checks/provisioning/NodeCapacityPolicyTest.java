package dev.sluice.checks.provisioning;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.checks.provisioning.NodeCapacityPolicy.Input;
import dev.sluice.checks.provisioning.NodeCapacityPolicy.Plan;
import dev.sluice.checks.provisioning.NodeCapacityPolicy.Wanted;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeCapacityPolicyTest {

  private static final Instant RESERVED_AT = Instant.parse("2026-03-01T10:00:00Z");
  private static final List<String> NAMES =
      List.of("wl-check-1-main-0", "wl-check-1-main-1", "wl-check-1-main-2");

  private final GivenProvisioning given = new GivenProvisioning();
  private Map<String, String> annotations = Map.of();
  private boolean served;
  private boolean unreadable;
  private Duration since = Duration.ofSeconds(5);

  private Input input(List<CapacityHolder> owned) {
    return new Input(
        NodeCapacityAnnotations.of(annotations),
        served,
        unreadable,
        flavor -> true,
        owned,
        RESERVED_AT.plus(since));
  }

  private Plan plan(List<CapacityHolder> owned) {
    return NodeCapacityPolicy.decide(given.workload(), given.state(), input(owned));
  }

  private String digest() {
    return NodeCapacityPolicy.digest(given.workload(), input(List.of()));
  }

  private CapacityHolder pod(String name, String node) {
    return pod(name, node, digest(), "Pending");
  }

  private static CapacityHolder pod(String name, String node, String digest, String phase) {
    return CapacityHolder.ofPod(json(name, digest, "nodeName: '" + node + "'", "phase: " + phase));
  }

  private CapacityHolder buffer(String status) {
    return buffer(3, status);
  }

  private CapacityHolder buffer(int replicas, String status) {
    ObjectNode json = json("wl-check-1-main", digest(), "replicas: " + replicas, status);
    return CapacityHolder.ofBuffer(json.put("apiVersion", "autoscaling.x-k8s.io/v1"));
  }

  private static ObjectNode json(String name, String digest, String spec, String status) {
    JsonNode object =
        GivenProvisioning.yaml(
            """
            metadata:
              namespace: ns
              name: %s
              uid: uid-of-%s
              annotations:
                {sluice.dev/admission-check: check, sluice.dev/pod-set: main, sluice.dev/request-digest: %s}
              ownerReferences: [{kind: Workload, name: wl, uid: wl-uid, controller: true}]
            spec: {%s}
            """
                .formatted(name, name, digest, spec));
    return ((ObjectNode) object).set("status", GivenProvisioning.yaml(status));
  }

  private List<CapacityHolder> pods(String... nodes) {
    List<CapacityHolder> result = new ArrayList<>();
    for (int i = 0; i < nodes.length; i++) {
      result.add(pod(NAMES.get(i), nodes[i]));
    }
    return result;
  }

  private static List<String> names(Plan plan) {
    return plan.creations().stream().map(Wanted::name).toList();
  }

  private static String state(Plan plan) {
    return plan.state().map(set -> set.state() + ": " + set.message()).orElse("");
  }

  @Test
  void eachAdmittedPodGetsAPlaceholderOnce() {
    assertThat(names(plan(List.of()))).isEqualTo(NAMES);
    assertThat(names(plan(pods("", "node")))).containsExactly(NAMES.get(2));
    assertThat(names(plan(pods("", "", "")))).isEmpty();
    assertThat(state(plan(pods("", "node"))))
        .isEqualTo("Pending: 1 of 3 placeholder pods have a node");
    assertThat(plan(pods("", "")).again()).contains(Duration.ofMinutes(10).minus(since));
  }

  @Test
  void readyWhenAllHaveNodes() {
    Plan plan = plan(pods("a", "b", "b"));

    assertThat(state(plan)).isEqualTo("Ready: 3 of 3 placeholder pods have a node");
    assertThat(plan.deletions()).isEmpty();
  }

  @Test
  void thoseOfAnotherReservationOrThatAreOverGoFirst() {
    CapacityHolder earlier = pod(NAMES.get(0), "a", "other", "Running");
    CapacityHolder failed = pod(NAMES.get(1), "b", digest(), "Failed");

    Plan plan = plan(List.of(earlier, failed, pod(NAMES.get(2), "c")));

    assertThat(plan.deletions()).containsExactly(earlier, failed);
    assertThat(plan.creations()).isEmpty(); // their names are taken yet
    assertThat(state(plan)).startsWith("Pending: 1 of 3");
  }

  @Test
  void aRefusalLeavesTheFlavorOutAndTheLastOneRejects() {
    annotations =
        Map.of(NodeCapacityAnnotations.TIMEOUT, "5s", NodeCapacityAnnotations.RETRIES, "1");

    Plan first = plan(pods("a", "b", ""));
    assertThat(state(first))
        .isEqualTo(
            "Retry: 2 of 3 placeholder pods have a node after 5 s; without flavor spot attempt 2"
                + " follows");
    assertThat(first.refused()).containsExactly("spot");
    assertThat(NodeCapacityPolicy.pause(given.state())).isEqualTo(Duration.ofMinutes(1));

    given.check(CheckState.PENDING, 1);
    Plan second = plan(List.of());
    assertThat(state(second))
        .isEqualTo(
            "Rejected: 0 of 3 placeholder pods have a node after 5 s; it was the last attempt,"
                + " number 2");
    assertThat(second.refused()).isEmpty();
    assertThat(NodeCapacityPolicy.pause(given.state())).isEqualTo(Duration.ofMinutes(2));
  }

  @Test
  void aPlaceThatWasTakenBeforeTheAdmissionIsAskedForAgain() {
    given.check(CheckState.READY, -1);

    Plan plan = plan(pods("a", "b"));

    assertThat(names(plan)).containsExactly(NAMES.get(2));
    assertThat(plan.state()).isEmpty();
  }

  /** A stop of the queue takes it without an eviction; the next one may be of another flavor. */
  @Test
  void aReadyCheckEndsWithTheQuota() {
    given.check(CheckState.READY, 1).with("/status/conditions/0/status", "'False'");
    List<CapacityHolder> placeholders = pods("a", "b", "c");
    Plan plan = plan(placeholders);
    assertThat(state(plan)).isEqualTo("Pending: The quota that it was Ready for was taken back");
    assertThat(plan.deletions()).isEqualTo(placeholders);
    assertThat(plan.creations()).isEmpty();

    given.isTrue("Finished");
    assertThat(plan(List.of()).state()).isEmpty();
  }

  /** The next reservation may be faster than what ends the check. */
  @Test
  void aCheckIsNotReadyForNodesOfAnEarlierReservation() {
    given
        .check(CheckState.READY, -1)
        .with("/status/admissionChecks/0/lastTransitionTime", "'2026-03-01T09:59:59Z'");
    Plan plan = plan(pods("a", "b"));
    assertThat(names(plan)).containsExactly(NAMES.get(2));
    assertThat(state(plan)).isEqualTo("Pending: 2 of 3 placeholder pods have a node");

    assertThat(state(plan(pods("a", "b", "c")))).startsWith("Ready: ");
    given.isTrue("Admitted");
    assertThat(plan(pods("a", "b")).state()).isEmpty();
  }

  @Test
  void placeholdersStayBesideComingPodsAndGoWhenTheseAreReadyOrLate() {
    given.check(CheckState.READY, -1).isTrue("Admitted");
    List<CapacityHolder> owned = pods("a", "b");

    assertThat(plan(owned).deletions()).isEmpty();
    assertThat(names(plan(owned))).isEmpty();
    assertThat(plan(owned).again()).contains(NodeCapacityPolicy.HAND_OVER.minus(since));

    since = NodeCapacityPolicy.HAND_OVER;
    assertThat(plan(owned).deletions()).isEqualTo(owned);

    since = Duration.ofSeconds(1);
    given.isTrue("PodsReady");
    assertThat(plan(owned).deletions()).isEqualTo(owned);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Finished", "Evicted"})
  void nothingStaysWithoutQuotaToUse(String condition) {
    given.isTrue(condition);

    assertThat(plan(pods("a", "")).deletions()).hasSize(2);
    assertThat(plan(List.of()).creations()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Retry", "Rejected"})
  void nothingStaysAfterARefusal(String state) {
    given.check(state, -1);

    assertThat(plan(pods("a", "")).deletions()).hasSize(2);
    assertThat(plan(pods("a", "")).creations()).isEmpty();
  }

  @Test
  void nothingStaysOfADeactivatedWorkload() {
    given.with("/spec/active", "false");

    assertThat(plan(pods("a", "")).deletions()).hasSize(2);
  }

  @Test
  void aBufferStandsForAllPodsAndGoesWithTheAdmission() {
    served = true;
    assertThat(names(plan(List.of()))).containsExactly("wl-check-1-main");
    assertThat(state(plan(List.of(buffer("{}")))))
        .isEqualTo("Pending: 0 of 1 CapacityBuffers are ready");
    assertThat(state(plan(List.of(buffer(ready(2)))))).startsWith("Pending");
    assertThat(state(plan(List.of(buffer(ready(3)))))).startsWith("Ready");

    given.check(CheckState.READY, -1).isTrue("Admitted");
    assertThat(plan(List.of(buffer(ready(3)))).deletions()).hasSize(1);
  }

  /** Whoever may create buffers may give one the owner and the digest of those of the operator. */
  @Test
  void aBufferForOtherPodsIsReplaced() {
    served = true;
    CapacityHolder small = buffer(1, ready(1));
    assertThat(plan(List.of(small)).deletions()).containsExactly(small);
    assertThat(state(plan(List.of(small)))).startsWith("Pending");

    given.with("/spec/podSets/0/name", "other");
    given.with("/status/admission/podSetAssignments/0/name", "other");
    ObjectNode json = json("wl-check-1-other", digest(), "replicas: 3", ready(3));
    CapacityHolder misled = CapacityHolder.ofBuffer(json.put("apiVersion", "v1"));
    assertThat(misled.purpose().podSet()).isEqualTo("main");
    assertThat(plan(List.of(misled)).deletions()).containsExactly(misled);
  }

  private static String ready(int replicas) {
    return "{replicas: %d, conditions: [{type: Provisioning, status: 'True'}]}".formatted(replicas);
  }

  @Test
  void placeholdersInsteadOfBuffersIfTheCheckSaysSo() {
    served = true;
    annotations = Map.of(NodeCapacityAnnotations.MEANS, "Placeholders");
    assertThat(names(plan(List.of()))).isEqualTo(NAMES);
  }

  @Test
  void aCheckThatNeedsBuffersWaitsForTheirDefinition() {
    annotations = Map.of(NodeCapacityAnnotations.MEANS, "CapacityBuffer");

    assertThat(state(plan(pods("a")))).isEqualTo("Pending: " + NodeCapacityPolicy.NO_BUFFERS);
    assertThat(plan(pods("a")).deletions()).hasSize(1);
    assertThat(plan(pods("a")).again()).contains(Duration.ofMinutes(10).minus(since));
    since = Duration.ofMinutes(10);
    assertThat(state(plan(List.of()))).startsWith("Retry: " + NodeCapacityPolicy.NO_BUFFERS);
  }

  @Test
  void quotaIsNotKeptForLongerThanTheTimeOutWhereNothingCanBeRead() {
    unreadable = true;
    assertThat(plan(List.of()).state()).isEmpty();
    assertThat(plan(List.of()).creations()).isEmpty();
    assertThat(plan(List.of()).again()).contains(Duration.ofMinutes(10).minus(since));
    since = Duration.ofMinutes(10);
    assertThat(state(plan(List.of()))).startsWith("Retry: " + NodeCapacityPolicy.UNREADABLE);
  }

  @Test
  void moreThanAThousandPlaceholdersAreNotMade() {
    given.with("/status/admission/podSetAssignments/0/count", "1001");

    assertThat(state(plan(List.of())))
        .isEqualTo("Rejected: 1001 pods would need as many placeholders; the most is 1000");
  }
}
