package dev.sluice.endtoend;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * An ElasticQuotaTree that changes at random: guarantees and limits, leaves that come and go, and
 * namespaces that move between them. Its root always has the same, of cpu and of memory in Gi.
 */
final class RandomQuotaTree {

  private static final List<String> RESOURCES = List.of("cpu", "memory");
  private static final List<String> TOP = List.of("x", "y", "z", "w");
  private static final List<String> BELOW = List.of("a", "b", "c");
  private static final int TRIES = 100;

  private final Random random;
  private final int room;
  private final List<String> namespaces;
  private Node root = new Node("root");

  /** A node of the tree. */
  private static final class Node {

    private final String name;
    private final Map<String, Integer> min = new TreeMap<>();
    private final Map<String, Integer> max = new TreeMap<>();
    private final TreeSet<String> namespaces = new TreeSet<>();
    private final List<Node> children = new ArrayList<>();

    Node(String name) {
      this.name = name;
    }

    Node copy() {
      Node copy = new Node(name);
      copy.min.putAll(min);
      copy.max.putAll(max);
      copy.namespaces.addAll(namespaces);
      children.forEach(child -> copy.children.add(child.copy()));
      return copy;
    }

    /** With all that its children are guaranteed. */
    int guaranteed(String resource) {
      return Math.max(
          min.getOrDefault(resource, 0),
          children.stream().mapToInt(child -> child.guaranteed(resource)).sum());
    }

    boolean isValid() {
      return RESOURCES.stream()
              .allMatch(each -> guaranteed(each) <= max.getOrDefault(each, Integer.MAX_VALUE))
          && children.stream().allMatch(Node::isValid);
    }

    void leaves(String path, Map<String, Node> result) {
      children.forEach(child -> child.leaves(path + "/" + child.name, result));
      if (children.isEmpty()) {
        result.put(path, this);
      }
    }

    String yaml() {
      return "{name: %s, min: %s, max: %s, namespaces: %s, children: %s}"
          .formatted(
              name,
              amounts(min),
              amounts(max),
              namespaces,
              children.stream().map(Node::yaml).toList());
    }

    private static String amounts(Map<String, Integer> amounts) {
      List<String> entries = new ArrayList<>();
      amounts.forEach(
          (resource, amount) ->
              entries.add(
                  "%s: \"%d%s\"".formatted(resource, amount, resource.equals("cpu") ? "" : "Gi")));
      return "{" + String.join(", ", entries) + "}";
    }
  }

  /** Two leaves, which have all namespaces. */
  RandomQuotaTree(Random random, int room, List<String> namespaces) {
    this.random = random;
    this.room = room;
    this.namespaces = namespaces;
    limit(root, room);
    for (String name : TOP.subList(0, 2)) {
      root.children.add(new Node(name));
    }
    for (String namespace : namespaces) {
      root.children.get(random.nextInt(2)).namespaces.add(namespace);
    }
  }

  private static void limit(Node root, int room) {
    for (String resource : RESOURCES) {
      root.min.put(resource, room);
      root.max.put(resource, room);
    }
  }

  /** Changes one thing; the tree remains valid. */
  void change() {
    for (int i = 0; i < TRIES; i++) {
      Node before = root.copy();
      changeSomething();
      if (root.isValid()) {
        return;
      }
      root = before;
    }
    throw new IllegalStateException("no valid change of " + root.yaml());
  }

  private void changeSomething() {
    switch (random.nextInt(6)) {
      case 0, 1 -> amounts(any(root));
      case 2 -> add();
      case 3 -> remove();
      default -> move();
    }
  }

  private void amounts(Node node) {
    if (node == root) {
      return;
    }
    for (String resource : RESOURCES) {
      if (random.nextBoolean()) {
        node.min.put(resource, random.nextInt(room / 2));
      }
      if (random.nextInt(3) == 0) {
        node.max.remove(resource);
      } else if (random.nextBoolean()) {
        node.max.put(resource, room / 10 + random.nextInt(room));
      }
    }
  }

  /** A leaf more; the parent's namespaces, if it was a leaf, become those of the new one. */
  private void add() {
    boolean top = random.nextInt(3) > 0 || root.children.isEmpty();
    Node parent = top ? root : root.children.get(random.nextInt(root.children.size()));
    List<String> free = new ArrayList<>(top ? TOP : BELOW);
    parent.children.forEach(child -> free.remove(child.name.substring(child.name.length() - 1)));
    if (free.isEmpty()) {
      return;
    }
    String name = free.get(random.nextInt(free.size()));
    Node leaf = new Node(top ? name : parent.name + "-" + name);
    leaf.min.put("cpu", random.nextInt(room / 5));
    leaf.namespaces.addAll(parent.namespaces);
    parent.namespaces.clear();
    parent.children.add(leaf);
  }

  private void remove() {
    Node parent = any(root);
    if (parent.children.size() > (parent == root ? 1 : 0)) {
      parent.children.remove(random.nextInt(parent.children.size()));
    }
  }

  private void move() {
    String namespace = namespaces.get(random.nextInt(namespaces.size()));
    List<Node> leaves = List.copyOf(leaves().values());
    leaves.forEach(leaf -> leaf.namespaces.remove(namespace));
    leaves.get(random.nextInt(leaves.size())).namespaces.add(namespace);
  }

  private Node any(Node from) {
    return from.children.isEmpty() || random.nextInt(3) == 0
        ? from
        : any(from.children.get(random.nextInt(from.children.size())));
  }

  private Map<String, Node> leaves() {
    Map<String, Node> leaves = new TreeMap<>();
    root.leaves("root", leaves);
    return leaves;
  }

  /** One leaf without a limit has every namespace, and the root has as much as is asked for. */
  void open(int amount) {
    root = new Node("root");
    limit(root, amount);
    Node leaf = new Node("x");
    leaf.namespaces.addAll(namespaces);
    root.children.add(leaf);
  }

  /** The full name of the leaf that each namespace belongs to. */
  Map<String, String> quotas() {
    Map<String, String> result = new TreeMap<>();
    leaves()
        .forEach((path, leaf) -> leaf.namespaces.forEach(namespace -> result.put(namespace, path)));
    return result;
  }

  /** What each leaf is guaranteed of cpu, by its full name. */
  Map<String, Integer> guarantees() {
    Map<String, Integer> result = new TreeMap<>();
    leaves().forEach((path, leaf) -> result.put(path, leaf.min.getOrDefault("cpu", 0)));
    return result;
  }

  /** The object. */
  String yaml() {
    return yaml(root);
  }

  /** The object with a fault. */
  String invalid() {
    Node wrong = root.copy();
    List<Consumer<Node>> faults =
        List.of(
            node -> node.children.getFirst().max.put("cpu", -1),
            node -> node.children.add(node.children.getFirst().copy()),
            node -> node.children.getFirst().min.put("memory", room + 1),
            node -> node.namespaces.add(namespaces.getFirst()));
    faults.get(random.nextInt(faults.size())).accept(wrong);
    return yaml(wrong);
  }

  private static String yaml(Node root) {
    return """
    apiVersion: scheduling.sigs.k8s.io/v1beta1
    kind: ElasticQuotaTree
    metadata: {name: random, namespace: kube-system}
    spec:
      root: %s
    """
        .formatted(root.yaml());
  }
}
