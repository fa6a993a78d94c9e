package dev.sluice.checks.multikueue.sync;

import java.util.List;

/**
 * Description of a job kind that can be dispatched to other clusters. A path is the list of field
 * names that leads to a field.
 *
 * @param group its API group
 * @param version the version in which it is read and written
 * @param kind its kind
 * @param plural its resource name in URLs
 * @param managedBy paths of managed-by fields; one that names MultiKueue is enough; empty for kinds
 *     without such a field, whose pods' gates keep them from running in the manager
 * @param suspend path of the suspend field; empty if unknown
 * @param dropped fields that are not copied to the worker
 * @param pushed paths of fields that follow the manager's job while the remote job runs
 * @param status how the status is copied back
 * @param pods which pods tell the state of the job, if its own status does not
 */
public record MultiKueueKind(
    String group,
    String version,
    String kind,
    String plural,
    List<List<String>> managedBy,
    List<String> suspend,
    Dropped dropped,
    List<List<String>> pushed,
    StatusRules status,
    Pods pods) {

  /** Which pods tell the state of a job. */
  public enum Pods {
    /** None: the job's status tells it. */
    NONE,
    /** The job is a pod or a pod group. */
    ITSELF,
    /**
     * Pods that the job's controller creates, in the manager and in the worker, with equal names:
     * the manager's controller derives the job's status from them.
     */
    MADE
  }

  /**
   * Parts of a job that are not copied to the worker.
   *
   * @param fields paths of fields
   * @param entries entries of lists
   */
  public record Dropped(List<List<String>> fields, List<Entry> entries) {

    /** Everything is copied. */
    public static final Dropped NOTHING = new Dropped(List.of(), List.of());

    /** Copies the lists. */
    public Dropped {
      fields = List.copyOf(fields);
      entries = List.copyOf(entries);
    }
  }

  /**
   * Entries of a list that are not copied, selected by the value of a field.
   *
   * @param list path of the list
   * @param field field of an entry
   * @param value value of that field
   */
  public record Entry(List<String> list, String field, String value) {

    /** Copies the path. */
    public Entry {
      list = List.copyOf(list);
    }
  }

  /**
   * How the status of a remote job is copied; fields not mentioned here are copied as they are.
   *
   * @param heldBack whether a status that mentions pods is not copied while the manager's job is
   *     suspended
   * @param ends conditions one of which is True when the job has ended; required if {@code
   *     heldBack}
   * @param growing counters that the API server does not allow to decrease
   * @param pods fields that mention pods; cleared when no pods are known any more
   * @param podConditions conditions that mention pods when they are True
   */
  public record StatusRules(
      boolean heldBack,
      List<String> ends,
      List<String> growing,
      List<String> pods,
      List<String> podConditions) {

    /** Copies the lists. */
    public StatusRules {
      ends = List.copyOf(ends);
      growing = List.copyOf(growing);
      pods = List.copyOf(pods);
      podConditions = List.copyOf(podConditions);
    }

    /** Rules of a status that is copied at any time. */
    static StatusRules tellingOf(List<String> pods, List<String> podConditions) {
      return new StatusRules(false, List.of(), List.of(), pods, podConditions);
    }
  }

  /** Copies the lists. */
  public MultiKueueKind {
    managedBy = managedBy.stream().map(List::copyOf).toList();
    suspend = List.copyOf(suspend);
    pushed = pushed.stream().map(List::copyOf).toList();
  }

  /** Creates a kind whose own status tells its state. */
  public MultiKueueKind(
      String group,
      String version,
      String kind,
      String plural,
      List<List<String>> managedBy,
      List<String> suspend,
      Dropped dropped,
      List<List<String>> pushed,
      StatusRules status) {
    this(group, version, kind, plural, managedBy, suspend, dropped, pushed, status, Pods.NONE);
  }

  /** {@code group/version}, or the version alone for the core group. */
  public String apiVersion() {
    return group.isEmpty() ? version : group + "/" + version;
  }

  /** {@code Kind.version.group}, as in configurations. */
  public String name() {
    return kind + "." + version + (group.isEmpty() ? "" : "." + group);
  }

  /** Copy without pushed fields. */
  MultiKueueKind withoutPushes() {
    return new MultiKueueKind(
        group, version, kind, plural, managedBy, suspend, dropped, List.of(), status, pods);
  }

  /** Whether an owner reference with these fields refers to this kind, in any version. */
  boolean is(String ownerApiVersion, String ownerKind) {
    boolean sameGroup =
        group.isEmpty() ? !ownerApiVersion.contains("/") : ownerApiVersion.startsWith(group + "/");
    return kind.equals(ownerKind) && sameGroup;
  }

  /** The path of all objects in all namespaces at an API server. */
  String everywhere() {
    return root() + plural;
  }

  /** The path of all objects of a namespace at an API server. */
  String path(String namespace) {
    return root() + "namespaces/" + namespace + "/" + plural;
  }

  /** The path of one object at an API server. */
  String path(String namespace, String name) {
    return path(namespace) + "/" + name;
  }

  private String root() {
    return (group.isEmpty() ? "api/" : "apis/") + apiVersion() + "/";
  }
}
