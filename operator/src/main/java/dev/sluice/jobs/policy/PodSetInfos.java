package dev.sluice.jobs.policy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.CheckStates;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** What the pod sets of an admitted Workload are given when its job starts. */
public final class PodSetInfos {

  private static final int LONGEST_LABEL = 63;

  private PodSetInfos() {}

  /**
   * One start per pod set, in the order of the Workload; empty while one of the assigned flavors is
   * not known.
   *
   * @throws StartConflictException if an admission check contradicts what flavors, queues or other
   *     checks give to the pods
   */
  public static Optional<List<PodSetInfo>> of(
      CachedWorkload workload,
      CachedWorkload.Admission admission,
      FlavorLookup flavors,
      JobOptions options)
      throws StartConflictException {
    List<PodSetInfo> starts = new ArrayList<>();
    for (CachedWorkload.PodSet podSet : workload.spec().podSets()) {
      for (CachedWorkload.Assignment assignment : admission.podSetAssignments()) {
        if (assignment.name().equals(podSet.name())) {
          Optional<PodSetInfo> start = start(workload, admission, assignment, flavors, options);
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
  private static PodSetInfo updated(PodSetInfo start, List<CachedWorkload.CheckState> checks)
      throws StartConflictException {
    PodSetInfo result = start;
    for (CachedWorkload.CheckState check : checks) {
      for (CachedWorkload.PodSetUpdate update : check.podSetUpdates()) {
        if (check.is(CachedWorkload.CheckState.READY) && update.name().equals(start.name())) {
          result = updated(result, check.name(), update);
        }
      }
    }
    return result;
  }

  private static PodSetInfo updated(
      PodSetInfo start, String check, CachedWorkload.PodSetUpdate update)
      throws StartConflictException {
    Set<ObjectNode> tolerations = new LinkedHashSet<>(start.tolerations());
    update.tolerations().forEach(toleration -> tolerations.add(CheckStates.json(toleration)));
    String who = "pod set " + start.name() + ": admission check " + check;
    return new PodSetInfo(
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

  private static Optional<PodSetInfo> start(
      CachedWorkload workload,
      CachedWorkload.Admission admission,
      CachedWorkload.Assignment assignment,
      FlavorLookup flavors,
      JobOptions options) {
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
    boolean elastic =
        options.on(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES) && workload.elastic();
    Map<String, String> annotations = new LinkedHashMap<>();
    if (options.on(FeatureGate.TOPOLOGY_AWARE_SCHEDULING)) {
      annotations.put(KueueConstants.WORKLOAD, workload.id().name());
    }
    boolean placed =
        options.on(FeatureGate.TOPOLOGY_AWARE_SCHEDULING) && assignment.topology().isPresent();
    if (placed && !requestsTopology(workload, assignment.name())) {
      annotations.put(KueueConstants.PODSET_UNCONSTRAINED_TOPOLOGY, "true");
    }
    List<String> gates = new ArrayList<>();
    if (placed) {
      gates.add(KueueConstants.TOPOLOGY_GATE);
    }
    if (elastic) {
      annotations.put(KueueConstants.WORKLOAD_SLICE_NAME, workload.sliceName());
      gates.add(KueueConstants.ELASTIC_JOB);
    }
    return Optional.of(
        new PodSetInfo(
            assignment.name(),
            assignment.count(),
            labels(workload, admission, assignment, options),
            annotations,
            nodeSelector,
            List.copyOf(tolerations),
            List.copyOf(gates)));
  }

  private static boolean requestsTopology(CachedWorkload workload, String podSet) {
    return workload.spec().podSets().stream()
        .filter(each -> each.name().equals(podSet))
        .anyMatch(each -> each.topology().isExplicit());
  }

  private static Map<String, String> labels(
      CachedWorkload workload,
      CachedWorkload.Admission admission,
      CachedWorkload.Assignment assignment,
      JobOptions options) {
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put(KueueConstants.PODSET, assignment.name());
    if (workload.labels().containsKey(KueueConstants.MULTIKUEUE_ORIGIN)) {
      labels.put(KueueConstants.MULTIKUEUE_WORKER_POD, "true");
    }
    if (options.on(FeatureGate.ASSIGN_QUEUE_LABELS_FOR_PODS)) {
      if (workload.spec().queueName().length() <= LONGEST_LABEL) {
        labels.put(KueueConstants.LOCAL_QUEUE_NAME, workload.spec().queueName());
      }
      String clusterQueue = admission.clusterQueue();
      if (KubernetesNames.isDnsLabel(clusterQueue)) {
        labels.put(KueueConstants.CLUSTER_QUEUE_NAME, clusterQueue);
      }
    }
    return labels;
  }
}
