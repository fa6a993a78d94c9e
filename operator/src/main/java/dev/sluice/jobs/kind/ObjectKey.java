package dev.sluice.jobs.kind;

/** The namespace and name of an object of a known kind; the key of work queues. */
public record ObjectKey(String namespace, String name) {

  /** {@code namespace/name}, as logs name the object. */
  @Override
  public String toString() {
    return namespace + "/" + name;
  }
}
