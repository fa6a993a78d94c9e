package dev.sluice.bench;

import dev.sluice.accounting.PodRecordParser;
import dev.sluice.accounting.PodRecords;
import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.topology.PlacementRequest;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyOptions;
import dev.sluice.core.topology.TopologyTree;
import dev.sluice.topology.NodeState;
import dev.sluice.topology.NodeStore;
import dev.sluice.topology.PodStore;
import dev.sluice.workload.feed.AdmittedRequests;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;

/**
 * What is kept of nodes, and of pods that no topology places, in bytes; and what a heart-beat, a
 * changed label and a changed amount of a node cost, in processor time. Nodes and pods are JSON as
 * API servers send it, each with names, labels and times of its own.
 */
public final class NodesTable {

  private static final int NODES = 10_000;
  private static final int PODS = 100_000;
  private static final int NODES_PER_RACK = 40;
  private static final int ROUNDS = 5;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final TopologyCache cache = new TopologyCache(TopologyOptions.DEFAULT);
  private final SchedulerEventSink engine = this::apply;
  private final NodeStore nodes = new NodeStore(engine, (before, after) -> {});
  private final PodStore pods =
      new PodStore(
          engine,
          Runnable::run,
          key -> {},
          new PodRecordParser(AdmittedRequests.PLAIN, image -> false),
          new PodRecords(pod -> {}, uid -> false),
          pod -> true);

  private NodesTable() {}

  /** Prints the figures. */
  public static void main(String[] args) throws IOException {
    new NodesTable().run();
  }

  private void apply(SchedulerEvent event) {
    switch (event) {
      case SchedulerEvent.NodeChanged(var node) -> cache.set(node);
      case SchedulerEvent.NodeUsageChanged(var node, var used) -> cache.setUsage(node, used);
      case SchedulerEvent.NodeRemoved(var name) -> cache.removeNode(name);
      default -> throw new IllegalStateException(event.toString());
    }
  }

  private void run() throws IOException {
    cache.set(new TopologySpec("t", List.of("example.com/rack", TopologySpec.HOSTNAME)));
    cache.set(new Flavor("f", Map.of("pool", "gpu"), List.of(), List.of(), "t"));
    seeNodes(NODES, "2026-01-01T00:00:00Z", "stable", 96);
    nodes.clear();
    seePods(NODES);
    pods.clear();
    long empty = used();
    seeNodes(NODES, "2026-01-01T00:00:00Z", "stable", 96);
    tree();
    place();
    long withNodes = used();
    seePods(PODS);
    long withPods = used();
    System.out.printf(
        Locale.ROOT, "bytes per node (%,d): %,d%n", NODES, (withNodes - empty) / NODES);
    System.out.printf(
        Locale.ROOT, "bytes per pod (%,d): %,d%n", PODS, (withPods - withNodes) / PODS);
    TopologyTree before = tree();
    print("heart-beat", "2026-01-01T00:05:00Z", "stable", 96);
    if (tree() != before) {
      throw new IllegalStateException("a heart-beat built the tree anew");
    }
    print("label that names no domain", "2026-01-01T00:05:00Z", "changed", 96);
    if (tree() != before) {
      throw new IllegalStateException("a label built the tree anew");
    }
    print("allocatable amount", "2026-01-01T00:05:00Z", "changed", 95);
    if (nodes.size() != NODES || pods.others() != PODS) {
      throw new IllegalStateException("not all was kept");
    }
  }

  /** One change of a node, and the next search for places after it, in microseconds. */
  private void print(String what, String time, String label, int cpus) throws IOException {
    long least = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      byte[] json = node(round, time, label, cpus);
      long start = THREADS.getCurrentThreadCpuTime();
      nodes.seen(nodes.parse(json, 0, json.length));
      place();
      least = Math.min(least, THREADS.getCurrentThreadCpuTime() - start);
    }
    System.out.printf(Locale.ROOT, "%s, with the next search: %,.0f µs%n", what, least / 1e3);
  }

  private void place() {
    PlacementRequest.Pods each =
        new PlacementRequest.Pods(8, new TreeMap<>(Map.of("cpu", 1000L)), NodeConstraints.ANYWHERE);
    cache.place(tree(), new PlacementRequest(each, null, TopologyRequest.unconstrained()), false);
  }

  private TopologyTree tree() {
    return Objects.requireNonNull(cache.tree("f"));
  }

  private void seeNodes(int count, String time, String label, int cpus) throws IOException {
    for (int i = 0; i < count; i++) {
      byte[] json = node(i, time, label, cpus);
      NodeState state = nodes.parse(json, 0, json.length);
      nodes.seen(state);
    }
  }

  private void seePods(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      byte[] json = pod(i);
      pods.seen(pods.parse(json, 0, json.length));
    }
  }

  private static byte[] node(int number, String time, String label, int cpus) {
    StringBuilder conditions = new StringBuilder();
    for (String type : List.of("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")) {
      conditions.append(conditions.isEmpty() ? "" : ",");
      conditions.append(
          "{\"type\":\"%s\",\"status\":\"%s\",\"lastHeartbeatTime\":\"%s\"}"
              .formatted(type, type.equals("Ready") ? "True" : "False", time));
    }
    return """
    {"metadata": {"name": "node-%1$d", "uid": "%2$s", "resourceVersion": "%1$d1", "labels": {
       "kubernetes.io/hostname": "node-%1$d", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
       "node.kubernetes.io/instance-type": "large", "topology.kubernetes.io/region": "r",
       "topology.kubernetes.io/zone": "z%3$d", "example.com/rack": "rack-%4$d", "pool": "gpu",
       "example.com/driver": "%5$s", "example.com/serial": "s-%1$d"},
      "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
     "spec": {"podCIDR": "10.0.%3$d.0/24", "providerID": "p://%1$d"},
     "status": {"conditions": [%6$s],
       "capacity": {"cpu": "%7$d", "memory": "1Ti", "pods": "110", "nvidia.com/gpu": "8"},
       "allocatable": {"cpu": "%7$d", "memory": "1Ti", "pods": "110", "nvidia.com/gpu": "8",
         "ephemeral-storage": "100Gi", "hugepages-2Mi": "0"},
       "images": [{"names": ["registry.example.com/image-%1$d"], "sizeBytes": %1$d}],
       "nodeInfo": {"kubeletVersion": "v1.36.3", "machineID": "%2$s"}}}
    """
        .formatted(
            number,
            new UUID(1, number),
            number % 3,
            number / NODES_PER_RACK,
            label,
            conditions,
            cpus)
        .getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] pod(int number) {
    return """
    {"metadata": {"namespace": "team-%3$d", "name": "web-%1$d", "uid": "%2$s",
       "resourceVersion": "%1$d7", "labels": {"app": "web", "pod-template-hash": "h%3$d"}},
     "spec": {"nodeName": "node-%4$d", "serviceAccountName": "default", "containers": [
        {"name": "web", "image": "registry.example.com/web:%3$d",
         "resources": {"requests": {"cpu": "%3$dm", "memory": "256Mi"}}},
        {"name": "proxy", "image": "registry.example.com/proxy",
         "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}}]},
     "status": {"phase": "Running", "podIP": "10.0.0.%3$d", "startTime": "2026-01-01T00:00:00Z"}}
    """
        .formatted(number, new UUID(2, number), 1 + number % 50, number % NODES)
        .getBytes(StandardCharsets.UTF_8);
  }

  private static long used() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
