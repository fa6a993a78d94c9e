package dev.sluice.app.module;

import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.Topology;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.kube.controller.GroupKindConcurrency;
import dev.sluice.kubequeue.ForeignQueueUnit;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The kinds whose objects this program has controllers for, whether they are turned on or not, by
 * the names that {@code controller.groupKindConcurrency} has for them.
 */
final class ReconciledKinds {

  private static final List<Class<? extends HasMetadata>> QUEUE_KINDS =
      List.of(
          AdmissionCheck.class,
          ClusterQueue.class,
          Cohort.class,
          LocalQueue.class,
          MultiKueueCluster.class,
          ResourceFlavor.class,
          Topology.class,
          WorkloadPriorityClass.class);

  private ReconciledKinds() {}

  /** Those of the names that name no such kind, in alphabetical order. */
  static List<String> unknown(Collection<String> names) {
    Set<String> known = names();
    return names.stream().filter(name -> !known.contains(name)).sorted().toList();
  }

  private static Set<String> names() {
    Stream<JobKind> kinds =
        Stream.concat(
            BuiltInIntegrations.reconciledKinds().stream(),
            Stream.of(JobKind.WORKLOAD, ForeignQueueUnit.KIND));
    return Stream.concat(
            kinds.map(kind -> GroupKindConcurrency.name(kind.group(), kind.kind())),
            QUEUE_KINDS.stream()
                .map(
                    kind ->
                        GroupKindConcurrency.name(
                            HasMetadata.getGroup(kind), HasMetadata.getKind(kind))))
        .collect(Collectors.toSet());
  }
}
