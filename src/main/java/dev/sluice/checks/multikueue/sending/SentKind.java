package dev.sluice.checks.multikueue.sending;

import java.util.List;

/**
 * A kind of job that can be sent to other clusters, as a description: what is known of it beyond
 * what all kinds share.
 *
 * @param group its API group
 * @param version the version it is read and written in
 * @param kind its kind
 * @param plural its resource name in paths
 * @param managedBy names of the fields on the way to the mark of who runs it
 * @param suspend names of the fields on the way to the switch that keeps it from running
 * @param dropped names of the fields on the way to each field that is the manager's alone
 * @param ends conditions one of which is True when it has ended
 * @param growing counts of the status that the API server lets nobody decrease
 * @param heldBack whether a status that tells of pods isn't copied while the manager's job is
 *     suspended
 */
public record SentKind(
    String group,
    String version,
    String kind,
    String plural,
    List<String> managedBy,
    List<String> suspend,
    List<List<String>> dropped,
    List<String> ends,
    List<String> growing,
    boolean heldBack) {

  /** Jobs of batch/v1. */
  public static final SentKind JOB =
      new SentKind(
          "batch",
          "v1",
          "Job",
          "jobs",
          List.of("spec", "managedBy"),
          List.of("spec", "suspend"),
          List.of(
              List.of("spec", "selector"),
              List.of("metadata", "labels", "controller-uid"),
              List.of("metadata", "labels", "job-name"),
              List.of("metadata", "labels", "batch.kubernetes.io/controller-uid"),
              List.of("metadata", "labels", "batch.kubernetes.io/job-name"),
              List.of("spec", "template", "metadata", "labels", "controller-uid"),
              List.of("spec", "template", "metadata", "labels", "job-name"),
              List.of(
                  "spec", "template", "metadata", "labels", "batch.kubernetes.io/controller-uid"),
              List.of("spec", "template", "metadata", "labels", "batch.kubernetes.io/job-name")),
          List.of("Complete", "Failed"),
          List.of("succeeded", "failed"),
          true);

  /** All kinds that can be sent. */
  public static final List<SentKind> ALL = List.of(JOB);

  /** With copies of the lists. */
  public SentKind {
    managedBy = List.copyOf(managedBy);
    suspend = List.copyOf(suspend);
    dropped = List.copyOf(dropped);
    ends = List.copyOf(ends);
    growing = List.copyOf(growing);
  }

  /** {@code group/version}. */
  public String apiVersion() {
    return group + "/" + version;
  }

  /** Whether an owner reference with these fields means this kind, in whatever version. */
  boolean is(String ownerApiVersion, String ownerKind) {
    return kind.equals(ownerKind) && ownerApiVersion.startsWith(group + "/");
  }

  /** The path of all objects of a namespace at an API server. */
  String path(String namespace) {
    return "apis/" + apiVersion() + "/namespaces/" + namespace + "/" + plural;
  }

  /** The path of one object at an API server. */
  String path(String namespace, String name) {
    return path(namespace) + "/" + name;
  }
}
