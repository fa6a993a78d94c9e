package dev.sluice.core.model;

/**
 * Which Workload.
 *
 * @param uid its UID in the API server, which decides identity and breaks ties in queue order
 * @param namespace its namespace
 * @param name its name
 */
public record WorkloadId(String uid, String namespace, String name) {

  @Override
  public boolean equals(Object other) {
    return other instanceof WorkloadId id && id.uid.equals(uid);
  }

  @Override
  public int hashCode() {
    return uid.hashCode();
  }

  /** {@code namespace/name}, as logs and messages name it. */
  @Override
  public String toString() {
    return namespace + "/" + name;
  }
}
