package dev.sluice.dashboard;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.topology.TopologyView;
import dev.sluice.core.topology.TopologyView.Amounts;
import dev.sluice.core.topology.TopologyView.Leaf;
import dev.sluice.server.endpoints.EngineAnswer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * The nodes of flavors with a topology: one domain with the domains in it, what each has, what is
 * used of it, and which Workloads hold it, as far as a viewer may see them.
 */
final class TopologyDocument {

  /** The most domains of one answer. */
  static final int MAX_DOMAINS = 500;

  /** The most Workloads of one answer. */
  static final int MAX_HOLDERS = 200;

  private static final Duration QUERY_TIMEOUT = Duration.ofSeconds(5);

  /**
   * The least time between two questions about a flavor: the answer takes time from the thread that
   * decides, and many may look.
   */
  private static final Duration INTERVAL = Duration.ofMillis(250);

  private final DashboardSources sources;
  private final WorkloadRows rows;
  private final ChangeFeed feed;
  private final Map<String, Memory> memories = new ConcurrentHashMap<>();

  /** What is remembered of one flavor. */
  private static final class Memory {
    private final ReentrantLock lock = new ReentrantLock();
    private Optional<TopologyView> view = Optional.empty();
    private Instant asked = Instant.MIN;
    private long revision;
  }

  TopologyDocument(DashboardSources sources, WorkloadRows rows, ChangeFeed feed) {
    this.rows = rows;
    this.sources = sources;
    this.feed = feed;
  }

  /** The flavors with a topology, by name. */
  ObjectNode flavors() {
    ObjectNode document = JsonMappers.JSON.createObjectNode();
    ArrayNode items = document.putArray("items");
    sources.caches().flavors().all().stream()
        .filter(TopologyDocument::hasTopology)
        .sorted(Comparator.comparing(flavor -> flavor.getMetadata().getName()))
        .forEach(
            flavor ->
                items
                    .addObject()
                    .put("flavor", flavor.getMetadata().getName())
                    .put("topology", flavor.getSpec().topologyName()));
    return document;
  }

  private static boolean hasTopology(ResourceFlavor flavor) {
    return flavor.getSpec() != null && flavor.getSpec().topologyName() != null;
  }

  /**
   * A domain.
   *
   * @param path the values of the levels that lead to it; empty: all nodes of the flavor
   * @param visible the namespaces whose Workloads may be named
   * @return empty if the flavor has no topology
   * @throws EngineAnswer.MissingException if the engine doesn't answer
   */
  Optional<ObjectNode> of(String flavor, List<String> path, Predicate<String> visible)
      throws EngineAnswer.MissingException {
    return view(flavor).map(view -> describe(view, path, visible));
  }

  /**
   * The engine's answer. One that is younger than the interval counts as long as nothing has
   * changed since; otherwise the next question waits for the end of the interval.
   */
  private Optional<TopologyView> view(String flavor) throws EngineAnswer.MissingException {
    boolean known =
        sources.caches().flavors().find(flavor).filter(TopologyDocument::hasTopology).isPresent();
    if (!known) {
      memories.remove(flavor);
      return Optional.empty();
    }
    Memory memory = memories.computeIfAbsent(flavor, name -> new Memory());
    memory.lock.lock();
    try {
      Instant now = sources.clock().instant();
      Instant due = memory.asked.equals(Instant.MIN) ? Instant.MIN : memory.asked.plus(INTERVAL);
      if (now.isBefore(due) && memory.revision == feed.revision()) {
        return memory.view;
      }
      if (now.isBefore(due)) {
        feed.pause(Duration.between(now, due));
      }
      memory.asked = sources.clock().instant();
      memory.revision = feed.revision();
      memory.view =
          EngineAnswer.await(
              sources.engine().topology(flavor), QUERY_TIMEOUT, "the topology of a flavor");
      return memory.view;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return memory.view;
    } finally {
      memory.lock.unlock();
    }
  }

  private ObjectNode describe(TopologyView view, List<String> path, Predicate<String> visible) {
    List<Leaf> leaves =
        view.leaves().stream()
            .filter(leaf -> path.size() <= leaf.values().size())
            .filter(leaf -> leaf.values().subList(0, path.size()).equals(path))
            .toList();
    ObjectNode document = JsonMappers.JSON.createObjectNode();
    document.put("flavor", view.flavor()).put("topology", view.topology());
    view.levels().forEach(document.withArray("levels")::add);
    path.forEach(document.withArray("path")::add);
    describe(document, leaves);
    domains(document, leaves, path.size(), view.levels().size());
    holders(document, leaves, visible);
    return document;
  }

  private static void describe(ObjectNode node, List<Leaf> leaves) {
    node.put("nodes", leaves.stream().mapToInt(Leaf::nodes).sum());
    ArrayNode resources = node.putArray("resources");
    TopologyView.sum(leaves)
        .forEach((resource, amounts) -> describe(resources.addObject(), resource, amounts));
  }

  private static void describe(ObjectNode node, String resource, Amounts amounts) {
    node.put("resource", resource)
        .put("allocatable", amounts.allocatable())
        .put("others", amounts.usedByOthers())
        .put("workloads", amounts.usedByWorkloads())
        .put("free", amounts.free());
  }

  private static void domains(ObjectNode document, List<Leaf> leaves, int level, int levels) {
    ArrayNode nodes = document.putArray("domains");
    if (level >= levels) {
      return;
    }
    Map<String, List<Leaf>> byValue = new LinkedHashMap<>();
    for (Leaf leaf : leaves) {
      byValue.computeIfAbsent(leaf.values().get(level), value -> new ArrayList<>()).add(leaf);
    }
    byValue.entrySet().stream()
        .limit(MAX_DOMAINS)
        .forEach(
            entry -> {
              ObjectNode node = nodes.addObject().put("name", entry.getKey());
              describe(node, entry.getValue());
              node.put("holders", pods(entry.getValue()).size());
            });
    document.put("moreDomains", Math.max(0, byValue.size() - MAX_DOMAINS));
  }

  /** The Workloads that have pods there, those with most pods first, and what is left unnamed. */
  private void holders(ObjectNode document, List<Leaf> leaves, Predicate<String> visible) {
    ArrayNode items = document.putArray("holders");
    int hidden = 0;
    long hiddenPods = 0;
    int more = 0;
    List<Map.Entry<WorkloadId, Long>> held =
        pods(leaves).entrySet().stream()
            .sorted(
                Map.Entry.<WorkloadId, Long>comparingByValue()
                    .reversed()
                    .thenComparing(entry -> entry.getKey().namespace())
                    .thenComparing(entry -> entry.getKey().name()))
            .toList();
    for (Map.Entry<WorkloadId, Long> entry : held) {
      WorkloadId id = entry.getKey();
      if (!visible.test(id.namespace())) {
        hidden++;
        hiddenPods += entry.getValue();
      } else if (items.size() == MAX_HOLDERS) {
        more++;
      } else {
        ObjectNode holder =
            items
                .addObject()
                .put("namespace", id.namespace())
                .put("name", id.name())
                .put("pods", entry.getValue());
        rows.putOwner(holder, id);
      }
    }
    document.put("hiddenHolders", hidden).put("hiddenPods", hiddenPods).put("moreHolders", more);
  }

  private static Map<WorkloadId, Long> pods(List<Leaf> leaves) {
    Map<WorkloadId, Long> pods = new LinkedHashMap<>();
    for (Leaf leaf : leaves) {
      leaf.holders().forEach(holder -> pods.merge(holder.id(), holder.pods(), Long::sum));
    }
    return pods;
  }
}
