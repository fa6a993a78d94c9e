package dev.sluice.checks.multikueue.sync;

import java.util.List;

/**
 * A kind of job that can be sent to other clusters, as a description: what is known of it beyond
 * what all kinds share. A path names the fields on the way to one.
 *
 * @param group its API group
 * @param version the version it is read and written in
 * @param kind its kind
 * @param plural its resource name in paths
 * @param managedBy paths of the mark of who runs it; one that names other clusters is enough; none
 *     for kinds without a mark, which stay here by the gates of their pods
 * @param suspend path of the switch that keeps it from running; empty if none is known
 * @param dropped what is the manager's alone
 * @param pushed paths of what follows the manager's job while it runs elsewhere
 * @param status what its status means
 * @param pods which pods tell how it is doing, where its own status doesn't
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

  /** Which pods tell how a job is doing. */
  public enum Pods {
    /** None: its status does. */
    NONE,
    /** It is a pod, or a group of them. */
    ITSELF,
    /**
     * Those that its controller makes, here and in the worker, of the same names: its controller
     * here makes its status from theirs.
     */
    MADE
  }

  /**
   * What isn't sent.
   *
   * @param fields paths of fields
   * @param entries entries of lists
   */
  public record Dropped(List<List<String>> fields, List<Entry> entries) {

    /** Everything is sent. */
    public static final Dropped NOTHING = new Dropped(List.of(), List.of());

    /** With copies of the lists. */
    public Dropped {
      fields = List.copyOf(fields);
      entries = List.copyOf(entries);
    }
  }

  /**
   * The entries of a list whose field has a value.
   *
   * @param list path of the list
   * @param field of an entry
   * @param value of that field
   */
  public record Entry(List<String> list, String field, String value) {

    /** With a copy of the path. */
    public Entry {
      list = List.copyOf(list);
    }
  }

  /**
   * What a status means to the manager, which copies it whole.
   *
   * @param heldBack whether one that tells of pods isn't copied while the manager's job is
   *     suspended
   * @param ends conditions one of which is True when the job has ended; needed where it is held
   *     back
   * @param growing counts that the API server lets nobody decrease
   * @param pods fields that tell of pods, and go when none is known any more
   * @param podConditions conditions that, when True, tell of pods
   */
  public record StatusRules(
      boolean heldBack,
      List<String> ends,
      List<String> growing,
      List<String> pods,
      List<String> podConditions) {

    /** With copies of the lists. */
    public StatusRules {
      ends = List.copyOf(ends);
      growing = List.copyOf(growing);
      pods = List.copyOf(pods);
      podConditions = List.copyOf(podConditions);
    }

    /** Of one that is copied at any time. */
    static StatusRules tellingOf(List<String> pods, List<String> podConditions) {
      return new StatusRules(false, List.of(), List.of(), pods, podConditions);
    }
  }

  /** With copies of the lists. */
  public MultiKueueKind {
    managedBy = managedBy.stream().map(List::copyOf).toList();
    suspend = List.copyOf(suspend);
    pushed = pushed.stream().map(List::copyOf).toList();
  }

  /** One whose own status tells how it is doing. */
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

  /** {@code group/version}, or the version alone for kinds of no group. */
  public String apiVersion() {
    return group.isEmpty() ? version : group + "/" + version;
  }

  /** {@code Kind.version.group}, as in configurations. */
  public String name() {
    return kind + "." + version + (group.isEmpty() ? "" : "." + group);
  }

  /** The same kind, of which nothing follows the manager's job. */
  MultiKueueKind withoutPushes() {
    return new MultiKueueKind(
        group, version, kind, plural, managedBy, suspend, dropped, List.of(), status, pods);
  }

  /** Whether an owner reference with these fields means this kind, in whatever version. */
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
