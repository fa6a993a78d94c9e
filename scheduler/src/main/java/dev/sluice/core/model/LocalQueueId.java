package dev.sluice.core.model;

/** Identity of a LocalQueue: namespace and name. */
public record LocalQueueId(String namespace, String name) implements Comparable<LocalQueueId> {

  @Override
  public int compareTo(LocalQueueId other) {
    int byNamespace = namespace.compareTo(other.namespace);
    return byNamespace != 0 ? byNamespace : name.compareTo(other.name);
  }

  /** {@code namespace/name}, the form in logs and messages. */
  @Override
  public String toString() {
    return namespace + "/" + name;
  }
}
