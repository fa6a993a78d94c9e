package dev.sluice.checks.provisioning;

import dev.sluice.api.v1beta2.ProvisioningRequestConfig.ProvisioningRequestConfigSpec;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.PodTemplate;
import dev.sluice.workload.record.PodTemplate.ResourceNeeds;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The pod sets of a Workload that need nodes to be provisioned. */
final class ManagedPodSets {

  private ManagedPodSets() {}

  /**
   * Those with pods that request one of the managed resources, with the counts of the admission;
   * all with pods if no resource is named.
   */
  static List<PodSet> of(CachedWorkload workload, ProvisioningRequestConfigSpec config) {
    List<PodSet> result = new ArrayList<>();
    for (PodSet podSet : workload.spec().podSets()) {
      int count = count(workload, podSet);
      if (count > 0 && requestsAny(podSet.template(), config.managedResources())) {
        result.add(podSet.withCount(count));
      }
    }
    return result;
  }

  /** All with pods, with the counts of the admission. */
  static List<PodSet> all(CachedWorkload workload) {
    return workload.spec().podSets().stream()
        .map(podSet -> podSet.withCount(count(workload, podSet)))
        .filter(podSet -> podSet.count() > 0)
        .toList();
  }

  private static int count(CachedWorkload workload, PodSet podSet) {
    for (Assignment assignment : workload.assignments()) {
      if (assignment.name().equals(podSet.name())) {
        return assignment.count();
      }
    }
    return podSet.count();
  }

  private static boolean requestsAny(PodTemplate template, List<String> resources) {
    return resources.isEmpty()
        || Stream.concat(
                Stream.of(template.podLevel()),
                Stream.concat(template.containers().stream(), template.initContainers().stream())
                    .map(PodTemplate.Container::resources))
            .anyMatch(needs -> resources.stream().anyMatch(resource -> isIn(needs, resource)));
  }

  /** A limit counts as the request where the latter is absent, as for the API server. */
  private static boolean isIn(ResourceNeeds needs, String resource) {
    long limit = needs.limits().getOrDefault(resource, 0L);
    return needs.requests().getOrDefault(resource, limit) > 0;
  }
}
