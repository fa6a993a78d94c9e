package dev.sluice.jobs.recovery;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.reflect.CollectionReflector;
import dev.sluice.kube.reflect.TolerantDeserializers;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The names of the nodes that have the taint of unreachable nodes, which the cluster's node
 * controller sets. Readable from any thread.
 */
final class UnreachableNodes implements CollectionReflector.Sink<UnreachableNodes.SeenNode> {

  static final String TAINT = "node.kubernetes.io/unreachable";

  private final ObjectMapper mapper = new ObjectMapper(TolerantDeserializers.json());
  private final Consumer<String> listener;
  private final Set<String> names = ConcurrentHashMap.newKeySet();
  private final Set<String> listed = new HashSet<>();

  /** A node in the watch. */
  record SeenNode(String name, boolean unreachable) {}

  /**
   * No nodes.
   *
   * @param listener is given the name of each node that became unreachable
   */
  UnreachableNodes(Consumer<String> listener) {
    this.listener = listener;
  }

  /** Whether the node of this name exists and has the taint. */
  boolean contains(String node) {
    return names.contains(node);
  }

  @Override
  public SeenNode parse(byte[] bytes, int offset, int length) throws IOException {
    JsonNode node = mapper.readTree(bytes, offset, length);
    boolean unreachable = false;
    for (JsonNode taint : node.path("spec").path("taints")) {
      unreachable |= taint.path("key").asText().equals(TAINT);
    }
    return new SeenNode(node.path("metadata").path("name").asText(), unreachable);
  }

  @Override
  public void listingBegins() {
    listed.clear();
  }

  @Override
  public void seen(SeenNode node) {
    if (!node.unreachable()) {
      names.remove(node.name());
      return;
    }
    listed.add(node.name());
    if (names.add(node.name())) {
      listener.accept(node.name());
    }
  }

  @Override
  public void deleted(SeenNode last) {
    names.remove(last.name());
  }

  @Override
  public void listingEnds() {
    names.retainAll(listed);
    listed.clear();
  }
}
