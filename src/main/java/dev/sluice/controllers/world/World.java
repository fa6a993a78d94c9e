package dev.sluice.controllers.world;

import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.Topology;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.controllers.translation.Surroundings;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;

/**
 * All that the informers know of the cluster, except Workloads and jobs.
 *
 * @param flavors the ResourceFlavors
 * @param clusterQueues the ClusterQueues
 * @param localQueues the LocalQueues
 * @param cohorts the Cohort objects
 * @param checks the AdmissionChecks
 * @param topologies the Topologies
 * @param workloadPriorityClasses the WorkloadPriorityClasses
 * @param priorityClasses the PriorityClasses of Kubernetes itself
 * @param namespaces the namespaces
 */
public record World(
    ObjectStore<ResourceFlavor> flavors,
    ObjectStore<ClusterQueue> clusterQueues,
    ObjectStore<LocalQueue> localQueues,
    ObjectStore<Cohort> cohorts,
    ObjectStore<AdmissionCheck> checks,
    ObjectStore<Topology> topologies,
    ObjectStore<WorkloadPriorityClass> workloadPriorityClasses,
    ObjectStore<PriorityClass> priorityClasses,
    ObjectStore<Namespace> namespaces) {

  /** A world of which nothing is known yet. */
  public static World empty() {
    return new World(
        new ObjectStore<>(),
        new ObjectStore<>(),
        new ObjectStore<>(),
        new ObjectStore<>(),
        new ObjectStore<>(),
        new ObjectStore<>(),
        new ObjectStore<>(),
        new ObjectStore<>(),
        new ObjectStore<>());
  }

  /** What stands around ClusterQueues, as known at the moment of each lookup. */
  public Surroundings surroundings() {
    return new Surroundings(checks::find, flavors::find, name -> topologies.find(name).isPresent());
  }
}
