package dev.sluice.topology;

import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.kube.reflect.CollectionReflector;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The nodes of the cluster. The engine is told of a node when something changed that placement
 * depends on; a heart-beat costs no event. Readable from any thread.
 */
public final class NodeStore implements CollectionReflector.Sink<NodeState> {

  private final SchedulerEventSink engine;
  private final Consumer<String> listener;
  private final NodeParser parser = new NodeParser();
  private final Map<String, NodeState> nodes = new ConcurrentHashMap<>();
  private final Set<String> listed = new HashSet<>();

  /**
   * An empty store.
   *
   * @param listener called with the name of each node that changed, after the store has the change
   */
  public NodeStore(SchedulerEventSink engine, Consumer<String> listener) {
    this.engine = engine;
    this.listener = listener;
  }

  /** The node of this name, if it exists. */
  public Optional<NodeState> find(String name) {
    return Optional.ofNullable(nodes.get(name));
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
    if (before == null || !before.node().equals(state.node())) {
      engine.submit(new SchedulerEvent.NodeChanged(state.node()));
    }
    listener.accept(name);
  }

  @Override
  public void deleted(NodeState last) {
    remove(last.node().name());
  }

  private void remove(String name) {
    if (nodes.remove(name) != null) {
      engine.submit(new SchedulerEvent.NodeRemoved(name));
      listener.accept(name);
    }
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
}
