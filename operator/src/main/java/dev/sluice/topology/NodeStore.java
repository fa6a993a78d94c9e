package dev.sluice.topology;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import dev.sluice.api.Quantities;
import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.Taint;
import dev.sluice.kube.json.JsonTokenReader;
import dev.sluice.kube.json.JsonTokenReader.StringInterner;
import dev.sluice.kube.json.WeakInterner;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.TolerantDeserializers;
import java.io.IOException;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of the cluster. The engine is told of a node when something changed that placement
 * depends on; a heart-beat costs no event. Readable from any thread.
 */
public final class NodeStore implements Reflector.Sink<NodeState> {

  private final SchedulerEventSink engine;
  private final BiConsumer<@Nullable NodeState, @Nullable NodeState> listener;
  private final NodeParser parser = new NodeParser();
  private final Map<String, NodeState> nodes = new ConcurrentHashMap<>();

  /** The names of nodes, by hostname. */
  private final Map<String, Set<String>> named = new ConcurrentHashMap<>();

  private final Set<String> listed = new HashSet<>();

  /**
   * An empty store.
   *
   * @param listener called with each node that changed, before and after, once the store has the
   *     change; null for a node that is new or gone
   */
  public NodeStore(
      SchedulerEventSink engine, BiConsumer<@Nullable NodeState, @Nullable NodeState> listener) {
    this.engine = engine;
    this.listener = listener;
  }

  /** The node of this name, if it exists. */
  public Optional<NodeState> find(String name) {
    return Optional.ofNullable(nodes.get(name));
  }

  /** The node with this hostname, if it exists; one that is ready if several have it. */
  public Optional<NodeState> findHost(String hostname) {
    return named.getOrDefault(hostname, Set.of()).stream()
        .flatMap(name -> find(name).stream())
        .min(Comparator.comparing(NodeState::readiness));
  }

  /** All nodes; they may come and go while the view is read. */
  public Collection<NodeState> all() {
    return Collections.unmodifiableCollection(nodes.values());
  }

  /** The number of nodes. */
  public int size() {
    return nodes.size();
  }

  @Override
  public NodeState parse(byte[] bytes, int offset, int length) throws IOException {
    return parser.parse(bytes, offset, length);
  }

  @Override
  public void listingBegins() {
    listed.clear();
  }

  @Override
  public void seen(NodeState state) {
    String name = state.node().name();
    listed.add(name);
    NodeState before = nodes.get(name);
    if (state.equals(before)) {
      return;
    }
    nodes.put(name, state);
    String hostname = state.node().hostname();
    named.merge(
        hostname,
        Set.of(name),
        (names, one) -> {
          Set<String> all = new HashSet<>(names);
          all.addAll(one);
          return Set.copyOf(all);
        });
    if (before != null && !before.node().hostname().equals(hostname)) {
      unname(before.node());
    }
    if (before == null || !before.node().equals(state.node())) {
      engine.submit(new SchedulerEvent.NodeChanged(state.node()));
    }
    listener.accept(before, state);
  }

  @Override
  public void deleted(NodeState last) {
    remove(last.node().name());
  }

  private void remove(String name) {
    NodeState before = nodes.remove(name);
    if (before != null) {
      unname(before.node());
      engine.submit(new SchedulerEvent.NodeRemoved(name));
      listener.accept(before, null);
    }
  }

  private void unname(ClusterNode node) {
    named.computeIfPresent(
        node.hostname(),
        (hostname, names) -> {
          Set<String> others = new HashSet<>(names);
          others.remove(node.name());
          return others.isEmpty() ? null : Set.copyOf(others);
        });
  }

  @Override
  public void listingEnds() {
    List.copyOf(nodes.keySet()).stream()
        .filter(name -> !listed.contains(name))
        .forEach(this::remove);
    listed.clear();
  }

  /** Forgets all nodes, and tells the engine: nobody keeps them up to date any more. */
  public void clear() {
    List.copyOf(nodes.keySet()).forEach(this::remove);
  }

  /**
   * Parses nodes. Everything that a heart-beat changes is left out, so that two versions of a node
   * that differ in nothing else are equal.
   */
  private static final class NodeParser {

    private final JsonFactory json = TolerantDeserializers.json();
    private final StringInterner texts = new StringInterner();
    private final WeakInterner<SortedMap<String, Long>> amounts = new WeakInterner<>();

    /** Parses the node in these bytes. */
    NodeState parse(byte[] bytes, int offset, int length) throws IOException {
      try (JsonParser parser = json.createParser(bytes, offset, length)) {
        parser.nextToken();
        Fields fields = new Fields(new JsonTokenReader(parser, texts));
        fields.reader.object(fields::read);
        return fields.result(amounts);
      }
    }

    /** The fields of one node. */
    private static final class Fields {

      private final JsonTokenReader reader;
      private String name = "";
      private Map<String, String> labels = Map.of();
      private List<Taint> taints = List.of();
      private boolean unschedulable;
      private final SortedMap<String, Long> allocatable = new TreeMap<>();
      private NodeState.Readiness readiness = NodeState.Readiness.MISSING;
      private Instant since = Instant.EPOCH;

      Fields(JsonTokenReader reader) {
        this.reader = reader;
      }

      void read(String field) throws IOException {
        switch (field) {
          case "metadata" -> reader.object(this::metadata);
          case "spec" -> reader.object(this::spec);
          case "status" -> reader.object(this::status);
          default -> {}
        }
      }

      private void metadata(String field) throws IOException {
        switch (field) {
          case "name" -> name = reader.word();
          case "labels" -> labels = reader.wordMap();
          default -> {}
        }
      }

      private void spec(String field) throws IOException {
        switch (field) {
          case "unschedulable" -> unschedulable = reader.word().equals("true");
          case "taints" -> taints = reader.list(this::taint);
          default -> {}
        }
      }

      private Taint taint() throws IOException {
        String[] parts = {"", "", ""};
        reader.object(
            field -> {
              switch (field) {
                case "key" -> parts[0] = reader.word();
                case "value" -> parts[1] = reader.word();
                case "effect" -> parts[2] = reader.word();
                default -> {}
              }
            });
        return new Taint(parts[0], parts[1], parts[2]);
      }

      private void status(String field) throws IOException {
        switch (field) {
          case "allocatable" -> reader.object(this::allocatable);
          case "conditions" -> conditions();
          default -> {}
        }
      }

      private void allocatable(String resource) throws IOException {
        try {
          allocatable.put(resource, Quantities.amount(resource, reader.word()));
        } catch (IllegalArgumentException notAQuantity) {
          allocatable.remove(resource);
        }
      }

      private void conditions() throws IOException {
        List<String[]> conditions = new ArrayList<>(reader.list(this::condition));
        conditions.stream()
            .filter(condition -> condition[0].equals("Ready"))
            .findFirst()
            .ifPresent(this::ready);
      }

      private void ready(String[] condition) {
        if (condition[1].equals("True")) {
          readiness = NodeState.Readiness.READY;
          return;
        }
        readiness = NodeState.Readiness.NOT_READY;
        try {
          since = Instant.parse(condition[2]);
        } catch (DateTimeParseException notATime) {
          since = Instant.EPOCH;
        }
      }

      private String[] condition() throws IOException {
        String[] parts = {"", "", ""};
        reader.object(
            field -> {
              switch (field) {
                case "type" -> parts[0] = reader.word();
                case "status" -> parts[1] = reader.word();
                case "lastTransitionTime" -> parts[2] = reader.word();
                default -> {}
              }
            });
        return parts;
      }

      NodeState result(WeakInterner<SortedMap<String, Long>> amounts) {
        boolean usable = readiness == NodeState.Readiness.READY && !unschedulable;
        return new NodeState(
            new ClusterNode(name, labels, taints, amounts.of(allocatable), usable),
            readiness,
            since);
      }
    }
  }
}
