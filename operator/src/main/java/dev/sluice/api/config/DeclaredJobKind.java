package dev.sluice.api.config;

import java.util.List;
import java.util.Locale;

/**
 * A kind of jobs that the cluster declares (docs/declared-kinds.md). A path is the list of field
 * names that leads to a field.
 *
 * @param name plural and group, as the kind's definition is named
 * @param version the version that is read and written
 * @param kind the kind
 * @param suspendField the field that suspends a job
 * @param managedByField the field that names the controller that runs a job; empty for none
 * @param podLabel the label by which pods name their job; empty if jobs can't be elastic
 * @param podSets where pods are described; at least one
 * @param status how the state of a job is told
 */
public record DeclaredJobKind(
    String name,
    String version,
    String kind,
    List<String> suspendField,
    List<String> managedByField,
    String podLabel,
    List<PodSets> podSets,
    Status status)
    implements AddedJobKind {

  public DeclaredJobKind {
    suspendField = List.copyOf(suspendField);
    managedByField = List.copyOf(managedByField);
    podSets = List.copyOf(podSets);
  }

  @Override
  public String framework() {
    return group() + "/" + kind.toLowerCase(Locale.ROOT);
  }

  /** The plural of the kind. */
  public String plural() {
    return name.substring(0, name.indexOf('.'));
  }

  /** The group of the kind. */
  public String group() {
    return name.substring(name.indexOf('.') + 1);
  }

  /**
   * One pod set, or one for each entry of a list or a map.
   *
   * @param name its name; empty if there is one for each entry
   * @param forEach the list or map; empty for one pod set
   * @param nameField where an entry has the name; empty if the key of a map is the name
   * @param template the pod template, from the entry on where there is one
   * @param count the number of pods, from the entry on; empty for one pod
   * @param indexLabel the label by which pods tell their place in the pod set; empty if none does
   */
  public record PodSets(
      String name,
      List<String> forEach,
      List<String> nameField,
      List<String> template,
      List<String> count,
      String indexLabel) {

    public PodSets {
      forEach = List.copyOf(forEach);
      nameField = List.copyOf(nameField);
      template = List.copyOf(template);
      count = List.copyOf(count);
    }
  }

  /**
   * How the state of a job is told: by any of some signs.
   *
   * @param running pods run
   * @param ready all pods are ready or done
   * @param succeeded the job has succeeded
   * @param failed the job has failed
   * @param messageField the message of the end; empty for none
   */
  public record Status(
      List<Sign> running,
      List<Sign> ready,
      List<Sign> succeeded,
      List<Sign> failed,
      List<String> messageField) {

    public Status {
      running = List.copyOf(running);
      ready = List.copyOf(ready);
      succeeded = List.copyOf(succeeded);
      failed = List.copyOf(failed);
      messageField = List.copyOf(messageField);
    }
  }

  /**
   * A sign in a job.
   *
   * @param condition the type of a condition that is True; empty if a field tells it
   * @param field the field; empty if a condition tells it
   * @param values the texts of which it has one; empty if it is a number above 0, or true
   */
  public record Sign(String condition, List<String> field, List<String> values) {

    public Sign {
      field = List.copyOf(field);
      values = List.copyOf(values);
    }
  }
}
