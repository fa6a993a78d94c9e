package dev.sluice.jobs.kind;

/** Which job: its kind, where it is, and the UID that tells it from its namesakes. */
public record JobRef(JobKind kind, String namespace, String name, String uid) {

  /** {@code Kind namespace/name}, as logs name it. */
  @Override
  public String toString() {
    return kind.kind() + " " + namespace + "/" + name;
  }
}
