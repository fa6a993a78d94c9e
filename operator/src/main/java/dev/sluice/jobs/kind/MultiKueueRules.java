package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How jobs of a kind are mirrored in a worker cluster, and how their status is copied back. A path
 * is the list of field names that leads to a field.
 *
 * @param managedBy paths of managed-by fields; one that names MultiKueue is enough; empty for kinds
 *     without such a field, whose pods' gates keep them from running in the manager
 * @param suspend path of the suspend field; empty if unknown
 * @param dropped fields that are not copied to the worker
 * @param pushed paths of fields that follow the manager's job while the remote job runs
 * @param status how the status is copied back
 * @param pods which pods tell the state of the job, if its own status does not
 * @param sizes how the remote job of an elastic job gets another size
 * @param scaling how the manager's job follows the size of a remote job that scales itself
 */
public record MultiKueueRules(
    List<List<String>> managedBy,
    List<String> suspend,
    Dropped dropped,
    List<List<String>> pushed,
    StatusRules status,
    Pods pods,
    Sizes sizes,
    RemoteScaling scaling) {

  /**
   * How many Workloads without quota a job has that has one for each group of its pods: the others
   * are made when these get quota. A few bytes say that a job has a million groups.
   */
  public static final int MOST_WAITING_GROUPS = 1_000;

  /** How the remote job of an elastic job gets the size of the manager's job. */
  @FunctionalInterface
  public interface Sizes {

    /**
     * Changes the size of a remote job.
     *
     * @param remote is changed in place
     */
    void apply(JsonNode local, ObjectNode remote);
  }

  private static final Sizes FIXED = (local, remote) -> {};

  /**
   * How the manager's job follows the size of a remote job that scales itself
   * (docs/multikueue.md#ray-clusters-that-scale-themselves).
   */
  public interface RemoteScaling {

    /** Whether the size of this job of the manager is written in the worker that it runs in. */
    default boolean scalesRemotely(JsonNode job) {
      return false;
    }

    /**
     * The numbers of pods of a remote job, by pod set; without pod sets whose size is fixed.
     *
     * @param local the manager's job, which bounds them
     */
    default Map<String, Integer> remoteCounts(JsonNode local, JsonNode remote) {
      return Map.of();
    }

    /** The annotations by which the manager's job tells these numbers of pods. */
    default Map<String, String> sizeAnnotations(Map<String, Integer> counts) {
      return Map.of();
    }
  }

  private static final RemoteScaling NEVER = new RemoteScaling() {};

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
    MADE,
    /**
     * The same, in {@code spec.replicas} groups with a Workload each, told apart by {@code
     * kueue.x-k8s.io/component-workload-index}: all of them use one remote job.
     */
    MADE_IN_GROUPS;

    /** Whether the job's controller creates them. */
    public boolean areMade() {
      return this == MADE || this == MADE_IN_GROUPS;
    }
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
    public static StatusRules atAnyTime(List<String> pods, List<String> podConditions) {
      return new StatusRules(false, List.of(), List.of(), pods, podConditions);
    }
  }

  /** Copies the lists. */
  public MultiKueueRules {
    managedBy = managedBy.stream().map(List::copyOf).toList();
    suspend = List.copyOf(suspend);
    pushed = pushed.stream().map(List::copyOf).toList();
  }

  /**
   * The rules of a job that tells its state by its own status: the job is copied whole, and so is
   * the status.
   *
   * @param managedBy path of the managed-by field
   * @param suspend path of the suspend field; empty if unknown
   */
  public static MultiKueueRules byStatus(List<String> managedBy, List<String> suspend) {
    return new MultiKueueRules(
        List.of(managedBy),
        suspend,
        Dropped.NOTHING,
        List.of(),
        StatusRules.atAnyTime(List.of(), List.of()),
        Pods.NONE,
        FIXED,
        NEVER);
  }

  /**
   * The rules of a job that tells its state by pods.
   *
   * @param dropped fields that are not copied to the worker
   */
  public static MultiKueueRules byPods(Dropped dropped, Pods pods) {
    return new MultiKueueRules(
        List.of(),
        List.of(),
        dropped,
        List.of(),
        StatusRules.atAnyTime(List.of(), List.of()),
        pods,
        FIXED,
        NEVER);
  }

  /**
   * Gives the remote job of an elastic job the size of the manager's job, unless it is the worker
   * where the size is written.
   *
   * @param remote is changed in place
   */
  public void resize(JsonNode local, ObjectNode remote) {
    if (!scaling.scalesRemotely(local)) {
      sizes.apply(local, remote);
    }
  }

  /** These rules, with other rules of the status. */
  public MultiKueueRules with(StatusRules rules) {
    return new MultiKueueRules(managedBy, suspend, dropped, pushed, rules, pods, sizes, scaling);
  }

  /** These rules, with a status of which these fields mention pods. */
  public MultiKueueRules withPodFields(String... fields) {
    return with(StatusRules.atAnyTime(List.of(fields), List.of()));
  }

  /** These rules, with parts that are not copied to the worker. */
  public MultiKueueRules dropping(Dropped parts) {
    return new MultiKueueRules(managedBy, suspend, parts, pushed, status, pods, sizes, scaling);
  }

  /**
   * These rules, for jobs that their controller deletes some time after their end: the job in the
   * worker isn't, or it could be gone before the manager saw how it ended.
   *
   * @param field path of the field that says when, or what is deleted
   */
  public MultiKueueRules keptAfterItsEnd(List<String> field) {
    List<List<String>> fields = new ArrayList<>(dropped.fields());
    fields.add(field);
    return dropping(new Dropped(fields, dropped.entries()));
  }

  /** These rules, with annotations that are of the manager alone. */
  public MultiKueueRules withoutAnnotations(List<String> keys) {
    List<List<String>> fields = new ArrayList<>(dropped.fields());
    for (String key : keys) {
      fields.add(List.of("metadata", "annotations", key));
    }
    return dropping(new Dropped(fields, dropped.entries()));
  }

  /** These rules, with fields that follow the manager's job. */
  public MultiKueueRules pushing(List<List<String>> fields) {
    return new MultiKueueRules(managedBy, suspend, dropped, fields, status, pods, sizes, scaling);
  }

  /** These rules, with other paths of managed-by fields. */
  public MultiKueueRules managedByAnyOf(List<List<String>> fields) {
    return new MultiKueueRules(fields, suspend, dropped, pushed, status, pods, sizes, scaling);
  }

  /** These rules, for jobs whose size may change while they run. */
  public MultiKueueRules resizedBy(Sizes changes) {
    return new MultiKueueRules(managedBy, suspend, dropped, pushed, status, pods, changes, scaling);
  }

  /** These rules, for jobs some of which scale themselves where they run. */
  public MultiKueueRules scaledBy(RemoteScaling remoteScaling) {
    return new MultiKueueRules(
        managedBy, suspend, dropped, pushed, status, pods, sizes, remoteScaling);
  }
}
