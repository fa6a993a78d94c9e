package dev.sluice.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Keys;
import dev.sluice.workloads.CheckStates;
import dev.sluice.workloads.Workload;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** What the pod sets of an admitted Workload are given when its job starts. */
public final class StartPlan {

  private static final int LONGEST_LABEL = 63;
  private static final Pattern DNS_LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?");

  private StartPlan() {}

  /**
   * One start per pod set, in the order of the Workload; empty while one of the assigned flavors is
   * not known.
   *
   * @throws StartConflictException if an admission check contradicts what flavors, queues or other
   *     checks give to the pods
   */
  public static Optional<List<PodSetStart>> of(
      Workload workload, Workload.Admission admission, FlavorLookup flavors, JobRules rules)
      throws StartConflictException {
    List<PodSetStart> starts = new ArrayList<>();
    for (Workload.PodSet podSet : workload.spec().podSets()) {
      for (Workload.Assignment assignment : admission.podSetAssignments()) {
        if (assignment.name().equals(podSet.name())) {
          Optional<PodSetStart> start = start(workload, admission, assignment, flavors, rules);
          if (start.isEmpty()) {
            return Optional.empty();
          }
          starts.add(updated(start.get(), workload.status().admissionChecks()));
        }
      }
    }
    return Optional.of(starts);
  }

  /** With what the checks that said yes add to the pods of this pod set. */
  private static PodSetStart updated(PodSetStart start, List<Workload.CheckState> checks)
      throws StartConflictException {
    PodSetStart result = start;
    for (Workload.CheckState check : checks) {
      for (Workload.PodSetUpdate update : check.podSetUpdates()) {
        if (check.is(Workload.CheckState.READY) && update.name().equals(start.name())) {
          result = updated(result, check.name(), update);
        }
      }
    }
    return result;
  }

  private static PodSetStart updated(PodSetStart start, String check, Workload.PodSetUpdate update)
      throws StartConflictException {
    Set<ObjectNode> tolerations = new LinkedHashSet<>(start.tolerations());
    update.tolerations().forEach(toleration -> tolerations.add(CheckStates.json(toleration)));
    String who = "pod set " + start.name() + ": admission check " + check;
    return new PodSetStart(
        start.name(),
        start.count(),
        merged(who, "labels", start.labels(), update.labels()),
        merged(who, "annotations", start.annotations(), update.annotations()),
        merged(who, "nodeSelector", start.nodeSelector(), update.nodeSelector()),
        List.copyOf(tolerations),
        start.schedulingGates());
  }

  private static Map<String, String> merged(
      String who, String field, Map<String, String> given, Map<String, String> more)
      throws StartConflictException {
    Map<String, String> result = new LinkedHashMap<>(given);
    for (Map.Entry<String, String> entry : more.entrySet()) {
      String other = result.putIfAbsent(entry.getKey(), entry.getValue());
      if (other != null && !other.equals(entry.getValue())) {
        throw new StartConflictException(
            "%s sets %s[%s] to \"%s\", which is \"%s\" already"
                .formatted(who, field, entry.getKey(), entry.getValue(), other));
      }
    }
    return result;
  }

  private static Optional<PodSetStart> start(
      Workload workload,
      Workload.Admission admission,
      Workload.Assignment assignment,
      FlavorLookup flavors,
      JobRules rules) {
    Map<String, String> nodeSelector = new LinkedHashMap<>();
    Set<ObjectNode> tolerations = new LinkedHashSet<>();
    for (String name : new LinkedHashSet<>(new TreeMap<>(assignment.flavors()).values())) {
      Optional<FlavorLookup.FlavorPods> flavor = flavors.find(name);
      if (flavor.isEmpty()) {
        return Optional.empty();
      }
      nodeSelector.putAll(flavor.get().nodeLabels());
      tolerations.addAll(flavor.get().tolerations());
    }
    Map<String, String> annotations =
        rules.workloadAnnotationOnPods() ? Map.of(Keys.WORKLOAD, workload.id().name()) : Map.of();
    return Optional.of(
        new PodSetStart(
            assignment.name(),
            assignment.count(),
            labels(workload, admission, assignment, rules),
            annotations,
            nodeSelector,
            List.copyOf(tolerations),
            List.of()));
  }

  private static Map<String, String> labels(
      Workload workload,
      Workload.Admission admission,
      Workload.Assignment assignment,
      JobRules rules) {
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put(Keys.PODSET, assignment.name());
    if (rules.queueLabelsOnPods()) {
      if (workload.spec().queueName().length() <= LONGEST_LABEL) {
        labels.put(Keys.LOCAL_QUEUE_NAME, workload.spec().queueName());
      }
      String clusterQueue = admission.clusterQueue();
      if (clusterQueue.length() <= LONGEST_LABEL && DNS_LABEL.matcher(clusterQueue).matches()) {
        labels.put(Keys.CLUSTER_QUEUE_NAME, clusterQueue);
      }
    }
    return labels;
  }
}
