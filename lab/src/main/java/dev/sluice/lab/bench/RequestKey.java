package dev.sluice.lab.bench;

/**
 * Key of requests in the API server's metrics.
 *
 * @param verb in capitals, such as PATCH
 * @param group the API group; empty for the core group
 * @param resource such as workloads
 * @param subresource such as status; empty for the object itself
 */
record RequestKey(String verb, String group, String resource, String subresource)
    implements Comparable<RequestKey> {

  /** The text for tables: {@code PATCH workloads/status}. */
  String text() {
    return verb + " " + resource + (subresource.isEmpty() ? "" : "/" + subresource);
  }

  /** Whether such requests change stored objects. */
  boolean writes() {
    return switch (verb) {
      case "POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION" -> true;
      default -> false;
    };
  }

  @Override
  public int compareTo(RequestKey other) {
    int order = resource.compareTo(other.resource);
    order = order != 0 ? order : subresource.compareTo(other.subresource);
    order = order != 0 ? order : verb.compareTo(other.verb);
    return order != 0 ? order : group.compareTo(other.group);
  }
}
