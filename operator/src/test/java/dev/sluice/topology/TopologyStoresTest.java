package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.accounting.PodRecordParser;
import dev.sluice.accounting.PodRecords;
import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.Taint;
import dev.sluice.topology.PodStore.ParsedPod;
import dev.sluice.workload.feed.AdmittedRequests;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the engine is told of nodes and pods, and what is kept of them. */
class TopologyStoresTest {

  private final List<SchedulerEvent> events = new ArrayList<>();
  private final List<Set<String>> changedNodes = new ArrayList<>();
  private final List<PodStore.Key> changedWorkloads = new ArrayList<>();
  private boolean assigned = true;
  private final List<Runnable> soon = new ArrayList<>();
  private final NodeStore nodes =
      new NodeStore(
          events::add,
          (before, after) ->
              changedNodes.add(
                  Stream.of(Optional.ofNullable(before), Optional.ofNullable(after))
                      .flatMap(Optional::stream)
                      .map(state -> state.node().hostname())
                      .collect(Collectors.toSet())));
  private final PodStore pods =
      new PodStore(
          events::add,
          soon::add,
          changedWorkloads::add,
          new PodRecordParser(AdmittedRequests.PLAIN, image -> false),
          new PodRecords(pod -> {}, uid -> false),
          pod -> assigned);

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private NodeState node(String text) throws IOException {
    byte[] bytes = bytes("xx" + text);
    return nodes.parse(bytes, 2, bytes.length - 2);
  }

  private ParsedPod pod(String text) throws IOException {
    return pods.parse(bytes(text), 0, bytes(text).length);
  }

  private static String nodeJson(String heartbeat, String ready, String further) {
    return """
    {"metadata": {"name": "n1", "resourceVersion": "7", "labels": {"rack": "r1"}},
     "spec": {%s "taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]},
     "status": {"conditions": [
       {"type": "MemoryPressure", "status": "True", "lastHeartbeatTime": "%s"},
       {"type": "Ready", "status": "%s", "lastHeartbeatTime": "%s"}],
       "images": [{"names": ["x"]}],
       "allocatable": {"cpu": "3500m", "memory": "1Gi", "pods": "110", "odd": "x"}}}
    """
        .formatted(further, heartbeat, ready, heartbeat);
  }

  private static final ClusterNode N1 =
      new ClusterNode(
          "n1",
          Map.of("rack", "r1"),
          List.of(new Taint("a", "b", "NoSchedule")),
          new TreeMap<>(Map.of("cpu", 3500L, "memory", 1L << 30, "pods", 110L)),
          true);

  @Test
  void aHeartBeatCostsNoEvent() throws IOException {
    nodes.seen(node(nodeJson("2026-01-01T00:00:00Z", "True", "")));
    assertThat(events).containsExactly(new SchedulerEvent.NodeChanged(N1));
    nodes.seen(node(nodeJson("2026-01-01T00:05:00Z", "True", "")));
    assertThat(events).hasSize(1);
    assertThat(changedNodes).hasSize(1);
    assertThat(nodes.find("n1")).contains(new NodeState(N1, NodeState.Readiness.READY));
  }

  @Test
  void aNodeIsUsableWhileItIsReadyAndSchedulable() throws IOException {
    assertThat(node(nodeJson("", "Unknown", "")).node().usable()).isFalse();
    assertThat(node(nodeJson("", "Unknown", "")).readiness())
        .isEqualTo(NodeState.Readiness.NOT_READY);
    assertThat(node(nodeJson("", "True", "\"unschedulable\": true,")).node().usable()).isFalse();
    NodeState without = node("{\"metadata\": {\"name\": \"n1\"}}");
    assertThat(without.readiness()).isEqualTo(NodeState.Readiness.MISSING);
    assertThat(without.node().usable()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"metadata\": 7, \"spec\": [], \"status\": null}",
        "{\"status\": {\"conditions\": [7, null, {}], \"allocatable\": {\"cpu\": {}}}}",
        "{\"spec\": {\"taints\": {}, \"unschedulable\": \"maybe\"}}"
      })
  void oddNodesAreRead(String text) throws IOException {
    assertThat(node(text).node().usable()).isFalse();
  }

  @Test
  void aNodeThatAListingLacksIsGone() throws IOException {
    nodes.seen(node("{\"metadata\": {\"name\": \"n1\"}}"));
    nodes.seen(node("{\"metadata\": {\"name\": \"n2\"}}"));
    nodes.deleted(node("{\"metadata\": {\"name\": \"n2\"}}"));
    events.clear();
    nodes.listingBegins();
    nodes.seen(node("{\"metadata\": {\"name\": \"n3\"}}"));
    nodes.listingEnds();
    assertThat(events).hasSize(2).contains(new SchedulerEvent.NodeRemoved("n1"));
    nodes.clear();
    assertThat(events).endsWith(new SchedulerEvent.NodeRemoved("n3"));
    assertThat(nodes.size()).isZero();
  }

  private NodeState host(String name, String hostname, String ready) throws IOException {
    return node(
        """
        {"metadata": {"name": "%s", "labels": {"kubernetes.io/hostname": "%s"}},
         "status": {"conditions": [{"type": "Ready", "status": "%s"}]}}
        """
            .formatted(name, hostname, ready));
  }

  @Test
  void nodesAreFoundByTheirHostname() throws IOException {
    NodeState first = host("n1", "host-1", "True");
    nodes.seen(first);
    assertThat(nodes.findHost("host-1")).contains(first);
    assertThat(nodes.findHost("n1")).isEmpty();
    nodes.seen(node("{\"metadata\": {\"name\": \"n2\"}}"));
    assertThat(nodes.findHost("n2")).as("without the label").isEqualTo(nodes.find("n2"));

    changedNodes.clear();
    NodeState renamed = host("n1", "host-2", "True");
    nodes.seen(renamed);
    assertThat(nodes.findHost("host-1")).isEmpty();
    assertThat(nodes.findHost("host-2")).contains(renamed);
    assertThat(changedNodes).containsExactly(Set.of("host-1", "host-2"));

    nodes.seen(host("n0", "host-2", "False"));
    assertThat(nodes.findHost("host-2")).as("the one that is ready").contains(renamed);
    nodes.deleted(renamed);
    assertThat(nodes.findHost("host-2")).isEqualTo(nodes.find("n0"));
    nodes.clear();
    assertThat(nodes.findHost("host-2")).isEmpty();
  }

  private static String otherPod(int uid, String node, String phase, String cpu) {
    return """
    {"metadata": {"namespace": "ns", "name": "p", "uid": "00000000-0000-0000-0000-00000000000%d"},
     "spec": {"nodeName": "%s", "containers": [
        {"name": "a", "resources": {"requests": {"cpu": "%s"}, "limits": {"cpu": "64"}}},
        {"name": "b", "resources": {"requests": {"memory": "1Ki"}}}],
       "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "100m"}}}],
       "overhead": {"cpu": "10m"}},
     "status": {"phase": "%s"}}
    """
        .formatted(uid, node, cpu, phase);
  }

  private static SchedulerEvent used(String node, Object... amounts) {
    TreeMap<String, Long> used = new TreeMap<>();
    for (int i = 0; i < amounts.length; i += 2) {
      used.put((String) amounts[i], ((Number) amounts[i + 1]).longValue());
    }
    return new SchedulerEvent.NodeUsageChanged(node, used);
  }

  private void report() {
    List<Runnable> tasks = List.copyOf(soon);
    soon.clear();
    tasks.forEach(Runnable::run);
  }

  @Test
  void requestsOfOthersAreSummedPerNode() throws IOException {
    pods.seen(pod(otherPod(1, "n1", "Running", "1")));
    pods.seen(pod(otherPod(2, "n1", "Pending", "2")));
    pods.seen(pod(otherPod(3, "", "Pending", "4")));
    pods.seen(pod(otherPod(4, "n1", "Succeeded", "8")));
    assertThat(events).as("changes are collected").isEmpty();
    assertThat(soon).hasSize(1);
    report();
    assertThat(events).containsExactly(used("n1", "cpu", 3020, "memory", 2048, "pods", 2));
    assertThat(pods.others()).isEqualTo(2);

    pods.seen(pod(otherPod(1, "n1", "Running", "1")));
    assertThat(soon).as("nothing changed").isEmpty();
    pods.seen(pod(otherPod(1, "n1", "Failed", "1")));
    pods.deleted(pod(otherPod(2, "n1", "Running", "2")));
    report();
    assertThat(events).endsWith(used("n1"));
    assertThat(pods.others()).isZero();
  }

  /** Anybody may create a pod that names its node; it fails there, and the others run on. */
  @Test
  void aPodThatRequestsMoreThanThereIsHidesNoOthersOnceItIsGone() throws IOException {
    pods.seen(pod(otherPod(1, "n1", "Running", "1")));
    pods.seen(pod(otherPod(2, "n1", "Pending", "1E")));
    pods.seen(pod(otherPod(3, "n1", "Pending", "1E")));
    report();
    assertThat(events)
        .as("less than what several nodes would overflow with")
        .containsExactly(used("n1", "cpu", 1L << 50, "memory", 3072, "pods", 3));

    pods.seen(pod(otherPod(2, "n1", "Failed", "1E")));
    pods.seen(pod(otherPod(3, "n1", "Failed", "1E")));
    report();
    assertThat(events).endsWith(used("n1", "cpu", 1010, "memory", 1024, "pods", 1));
  }

  @Test
  void aListingIsReportedAtItsEnd() throws IOException {
    pods.seen(pod(otherPod(1, "n1", "Running", "1")));
    report();
    events.clear();
    pods.listingBegins();
    pods.seen(pod(otherPod(2, "n2", "Running", "1")));
    assertThat(soon).isEmpty();
    pods.listingEnds();
    assertThat(events)
        .containsExactlyInAnyOrder(used("n1"), used("n2", "cpu", 1010, "memory", 1024, "pods", 1));
  }

  private static String placedPod(String gates, String further) {
    return """
    {"metadata": {"namespace": "ns", "name": "p-0", "uid": "u-0", "resourceVersion": "5", %s
       "labels": {"kueue.x-k8s.io/podset": "main", "index": "3", "team": "x", "huge": "99999999999"},
       "annotations": {"kueue.x-k8s.io/workload": "w",
         "kueue.x-k8s.io/pod-index-offset": "1",
         "kueue.x-k8s.io/podset-required-topology": "rack"}},
     "spec": {"schedulingGates": [%s], "nodeSelector": {"pool": "a"}, "containers": []}}
    """
        .formatted(further, gates);
  }

  @Test
  void placedPodsAreKeptByTheirWorkload() throws IOException {
    PodStore.Key key = new PodStore.Key("ns", "w");
    pods.seen(pod(placedPod("{\"name\": \"kueue.x-k8s.io/topology\"}, {\"name\": \"other\"}", "")));
    assertThat(pods.of(key))
        .containsExactly(
            new TopologyPod(
                "ns",
                "p-0",
                "u-0",
                "5",
                "w",
                "main",
                Map.of("index", 3),
                1,
                List.of("kueue.x-k8s.io/topology", "other"),
                Map.of("pool", "a"),
                TopologyPod.Binding.to(""),
                false));
    assertThat(pods.of(key)).allMatch(TopologyPod::gated);
    pods.seen(pod(placedPod("", "\"deletionTimestamp\": \"2026-01-01T00:00:00Z\",")));
    assertThat(pods.of(key)).noneMatch(TopologyPod::gated).allMatch(TopologyPod::deleting);
    assertThat(changedWorkloads).containsExactly(key, key);
    pods.deleted(pod(placedPod("", "")));
    assertThat(pods.of(key)).isEmpty();
    assertThat(events).as("they use what their Workload was assigned").isEmpty();
  }

  @Test
  void aPodThatWasNotAssignedToItsNodeCountsThereWhateverItSays() throws IOException {
    String says =
        placedPod("", "").replace("\"containers\": []", "\"nodeName\": \"n1\", \"containers\": []");
    assigned = false;
    pods.seen(pod(says));
    report();
    assertThat(events).containsExactly(used("n1", "pods", 1));
    assertThat(pods.of(new PodStore.Key("ns", "w"))).hasSize(1);

    assigned = true;
    pods.allOwnersChanged();
    report();
    assertThat(events).endsWith(used("n1"));
    assigned = false;
    pods.allOwnersChanged();
    pods.deleted(pod(says));
    report();
    pods.allOwnersChanged();
    assertThat(soon).isEmpty();
    assertThat(pods.others()).isZero();
  }

  @Test
  void aPodThatNoNodeIsFoundForSaysSinceWhen() throws IOException {
    String condition =
        "{\"type\": \"PodScheduled\", \"status\": \"False\", \"reason\": \"Unschedulable\","
            + " \"lastTransitionTime\": \"%s\"}";
    String waits =
        placedPod("", "").strip().replaceFirst("}\\s*$", ", \"status\": {\"conditions\": [%s]}}");
    PodStore.Key key = new PodStore.Key("ns", "w");
    pods.seen(pod(waits.formatted(condition.formatted("2026-01-01T00:00:00Z"))));
    assertThat(pods.of(key))
        .extracting(each -> each.binding().unschedulableSince())
        .containsExactly(Optional.of(Instant.parse("2026-01-01T00:00:00Z")));
    for (String odd : List.of("7", "{}", condition.formatted("yesterday"))) {
      pods.seen(pod(waits.formatted(odd)));
      assertThat(pods.of(key))
          .extracting(each -> each.binding().unschedulableSince())
          .containsExactly(Optional.empty());
    }
  }

  @Test
  void podsThatAreSoonGoneTakeNoRoom() throws IOException {
    pods.seen(pod(otherPod(1, "n1", "Running", "1")));
    pods.seen(
        pod(
            otherPod(2, "n1", "Running", "2")
                .replace("\"name\"", "\"deletionTimestamp\": \"2026-01-01T00:00:30Z\", \"name\"")));
    assertThat(pods.requestedOn("n1", Instant.parse("2026-01-01T00:00:30Z")))
        .containsEntry("cpu", 3020L);
    assertThat(pods.requestedOn("n1", Instant.parse("2026-01-01T00:00:31Z")))
        .containsEntry("cpu", 1010L);
    assertThat(pods.requestedOn("n2", Instant.EPOCH)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"metadata\": 7, \"spec\": [], \"status\": null}",
        "{\"spec\": {\"nodeName\": \"n\", \"containers\": [7, {\"resources\": {\"requests\":"
            + " {\"cpu\": \"x\"}}}]}}",
        "{\"metadata\": {\"annotations\": {\"kueue.x-k8s.io/workload\": {}}}}"
      })
  void oddPodsAreRead(String text) throws IOException {
    pods.seen(pod(text));
    assertThat(pods.of(new PodStore.Key("", ""))).isEmpty();
  }
}
