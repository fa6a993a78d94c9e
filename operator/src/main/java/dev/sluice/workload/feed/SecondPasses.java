package dev.sluice.workload.feed;

import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.SecondPass;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.PodSetUpdate;
import dev.sluice.workload.status.CheckStates;
import dev.sluice.workload.status.DelayedTopology;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** The places that Workloads with quota lack (docs/topology.md#the-second-pass). */
final class SecondPasses {

  private SecondPasses() {}

  /**
   * The places that a Workload lacks; empty if it lacks none, or the time to look for them hasn't
   * come: delayed ones are looked for when all admission checks are Ready. A Workload that runs in
   * a worker cluster gets its places there.
   *
   * @param requests what the pod sets ask for; asked for if places are lacking
   * @param keepsPlacesOfPods whether a Workload that a single pod owns keeps its place
   */
  static Optional<SecondPass> of(
      CachedWorkload workload, Supplier<List<PodSetRequest>> requests, boolean keepsPlacesOfPods) {
    if (workload.evicted() || !workload.status().remotePlacement().cluster().isEmpty()) {
      return Optional.empty();
    }
    boolean delayed =
        DelayedTopology.isPending(workload)
            && CheckStates.allReady(workload.status().admissionChecks());
    Set<String> lost = lostNodes(workload);
    if (!lost.isEmpty() && keepsPlacesOfPods && isOfOnePod(workload)) {
      lost = Set.of();
    }
    return delayed || !lost.isEmpty()
        ? Optional.of(
            new SecondPass(
                requests.get().stream().map(each -> updated(workload, each)).toList(), lost))
        : Optional.empty();
  }

  /**
   * Whether a pod controls a Workload, or is the only owner of a Workload of one pod: it is all
   * that there will be.
   */
  private static boolean isOfOnePod(CachedWorkload workload) {
    int pods = workload.spec().podSets().stream().mapToInt(CachedWorkload.PodSet::count).sum();
    boolean alone =
        workload.owner().isEmpty()
            && pods == 1
            && workload.coOwners().size() == 1
            && workload.coOwners().getFirst().isPod();
    return alone || workload.owner().filter(CachedWorkload.Owner::isPod).isPresent();
  }

  private static Set<String> lostNodes(CachedWorkload workload) {
    if (workload.status().unhealthyNodes().isEmpty() || !workload.admitted()) {
      return Set.of();
    }
    Set<String> lost = new HashSet<>();
    for (Assignment assignment : workload.assignments()) {
      assignment
          .topology()
          .filter(TopologyAssignment::isOfNodes)
          .ifPresent(
              places ->
                  places.domains().stream()
                      .map(domain -> domain.values().getLast())
                      .filter(workload.status().unhealthyNodes()::contains)
                      .forEach(lost::add));
    }
    return lost;
  }

  /** The request with what Ready admission checks add to the pods. */
  private static PodSetRequest updated(CachedWorkload workload, PodSetRequest request) {
    List<PodSetUpdate> updates =
        workload.status().admissionChecks().stream()
            .filter(check -> check.is(CheckState.READY))
            .flatMap(check -> check.podSetUpdates().stream())
            .filter(update -> update.name().equals(request.name()))
            .toList();
    if (updates.isEmpty()) {
      return request;
    }
    NodeConstraints own = request.nodeConstraints();
    Map<String, String> selector = new HashMap<>(own.nodeSelector());
    List<Toleration> tolerations = new ArrayList<>(own.tolerations());
    for (PodSetUpdate update : updates) {
      selector.putAll(update.nodeSelector());
      update
          .tolerations()
          .forEach(
              each ->
                  tolerations.add(
                      new Toleration(
                          each.key(),
                          each.operator(),
                          each.value(),
                          each.effect(),
                          each.seconds().isPresent())));
    }
    return request.with(
        new NodeConstraints(
            selector, own.affinityTerms(), own.affinityFields(), tolerations, own.preferred()));
  }
}
