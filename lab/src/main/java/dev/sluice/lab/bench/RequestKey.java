package dev.sluice.lab.bench;

/**
 * Key of requests in the API server's metrics and audit log.
 *
 * @param verb in capitals, such as PATCH
 * @param group the API group; empty for the core group
 * @param resource such as workloads
 * @param subresource such as status; empty for the object itself
 * @param reason the reason of an Event that is created, where it is known; empty otherwise
 */
record RequestKey(String verb, String group, String resource, String subresource, String reason)
    implements Comparable<RequestKey> {

  private static final String EVENTS = "events";

  /** Requests of which no reason is known. */
  RequestKey(String verb, String group, String resource, String subresource) {
    this(verb, group, resource, subresource, "");
  }

  /** The text for tables: {@code PATCH workloads/status}, {@code POST events Admitted}. */
  String text() {
    return verb
        + " "
        + resource
        + (subresource.isEmpty() ? "" : "/" + subresource)
        + (reason.isEmpty() ? "" : " " + reason);
  }

  /** Whether such requests write Events, of either group. */
  boolean isEvent() {
    return resource.equals(EVENTS);
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
    order = order != 0 ? order : group.compareTo(other.group);
    return order != 0 ? order : reason.compareTo(other.reason);
  }
}
