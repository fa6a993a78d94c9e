package dev.sluice.core.model;

/**
 * Identity of a Workload.
 *
 * @param uid UID in the API server; two ids are equal if their UIDs are equal, and the UID breaks
 *     ties in queue order
 * @param namespace namespace of the Workload
 * @param name name of the Workload
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

  /** {@code namespace/name}, the form in logs and messages. */
  @Override
  public String toString() {
    return namespace + "/" + name;
  }
}
