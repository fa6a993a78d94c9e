package dev.sluice.queues.cache;

import dev.sluice.api.queueing.AllowedSubjects;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.Topology;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.queues.mapping.CheckControllerDescription.CheckControllers;
import dev.sluice.queues.mapping.FlavorMapper;
import dev.sluice.queues.mapping.ReferenceLookup;
import dev.sluice.queues.mapping.TopologyMapper;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The informers' stores of all kinds except Workloads and jobs.
 *
 * @param flavors the ResourceFlavors
 * @param clusterQueues the ClusterQueues
 * @param localQueues the LocalQueues
 * @param cohorts the Cohorts
 * @param checks the AdmissionChecks
 * @param topologies the Topologies
 * @param workloadPriorityClasses the WorkloadPriorityClasses
 * @param priorityClasses the PriorityClasses of Kubernetes itself
 * @param namespaces the namespaces
 * @param checkControllers the controllers of AdmissionChecks that this program has
 */
public record InformerCaches(
    ObservableItemStore<ResourceFlavor> flavors,
    ObservableItemStore<ClusterQueue> clusterQueues,
    ObservableItemStore<LocalQueue> localQueues,
    ObservableItemStore<Cohort> cohorts,
    ObservableItemStore<AdmissionCheck> checks,
    ObservableItemStore<Topology> topologies,
    ObservableItemStore<WorkloadPriorityClass> workloadPriorityClasses,
    ObservableItemStore<PriorityClass> priorityClasses,
    ObservableItemStore<Namespace> namespaces,
    CheckControllers checkControllers) {

  /** Empty stores, for a program that has these controllers of AdmissionChecks. */
  public static InformerCaches empty(CheckControllers checkControllers) {
    return new InformerCaches(
        new ObservableItemStore<>(),
        new ObservableItemStore<>(),
        new ObservableItemStore<>(),
        new ObservableItemStore<>(),
        new ObservableItemStore<>(),
        new ObservableItemStore<>(),
        new ObservableItemStore<>(),
        new ObservableItemStore<>(),
        new ObservableItemStore<>(),
        checkControllers);
  }

  /** Whether Workloads with the check of this name run in other clusters. */
  public boolean dispatchesRemotely(String check) {
    return checks.find(check).filter(checkControllers::dispatchesRemotely).isPresent();
  }

  /** The levels of the topology of a flavor; empty if it has none, or one of them is gone. */
  public List<String> levels(String flavor) {
    return flavors
        .find(flavor)
        .flatMap(FlavorMapper::topology)
        .flatMap(topologies::find)
        .flatMap(TopologyMapper::translate)
        .map(TopologySpec::levels)
        .orElse(List.of());
  }

  /**
   * The WorkloadPriorityClasses that not everybody may use and that give a priority above 0, up to
   * {@code priority}.
   *
   * @param used the class of the Workload, empty without; where it gives that priority, there are
   *     none
   */
  public Set<String> restrictedClassesUpTo(long priority, String used) {
    boolean ofClass =
        workloadPriorityClasses.find(used).filter(each -> each.getValue() >= priority).isPresent();
    if (ofClass) {
      return Set.of();
    }
    return workloadPriorityClasses.all().stream()
        .filter(each -> each.getValue() > 0 && each.getValue() <= priority)
        .filter(each -> AllowedSubjects.of(each.getMetadata().getAnnotations()).isRestricted())
        .map(each -> each.getMetadata().getName())
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Lookup of the objects that ClusterQueues refer to, as known at the time of each call. */
  public ReferenceLookup surroundings() {
    return new ReferenceLookup(
        checks::find, flavors::find, name -> topologies.find(name).isPresent(), checkControllers);
  }
}
