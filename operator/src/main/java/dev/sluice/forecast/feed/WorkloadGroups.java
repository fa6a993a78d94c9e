package dev.sluice.forecast.feed;

import dev.sluice.api.config.LedgerSettings;
import dev.sluice.forecast.runtimes.RunTimeGroup;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Owner;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.NamespaceLimits;
import dev.sluice.workload.record.PodRequests;
import dev.sluice.workload.record.PodTemplateHash;
import dev.sluice.workload.record.ResourceContext;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The groups that the runs of a Workload belong to (docs/run-times.md#groups). Users are no group:
 * who created a job isn't known of every kind, and what annotations say of it can be made up.
 */
final class WorkloadGroups {

  private WorkloadGroups() {}

  /**
   * The groups, from the narrowest to the widest. Keys have a bounded length, whatever people
   * write.
   *
   * @param clusterQueue the ClusterQueue that admitted the Workload, or would; empty if not known
   */
  static List<RunTimeGroup> of(CachedWorkload workload, String clusterQueue) {
    List<RunTimeGroup> groups = new ArrayList<>(5);
    String namespace = workload.id().namespace();
    String queue = namespace + "/" + workload.spec().queueName();
    boolean queued = !workload.spec().queueName().isEmpty();
    if (queued) {
      groups.add(new RunTimeGroup(Level.TEMPLATE, queue + "/" + templates(workload)));
    }
    String name = workload.owner().map(Owner::name).orElse(workload.id().name());
    groups.add(new RunTimeGroup(Level.NAME, namespace + "/" + RunTimeGroup.stem(name)));
    String user = workload.labels().getOrDefault(LedgerSettings.USER_LABEL, "");
    if (!user.isEmpty()) {
      groups.add(new RunTimeGroup(Level.USER, namespace + "/" + user + "/" + request(workload)));
    }
    if (queued) {
      groups.add(new RunTimeGroup(Level.LOCAL_QUEUE, queue + "/" + request(workload)));
    }
    if (!clusterQueue.isEmpty()) {
      groups.add(new RunTimeGroup(Level.CLUSTER_QUEUE, clusterQueue));
    }
    return groups;
  }

  private static String templates(CachedWorkload workload) {
    List<PodSet> podSets = workload.spec().podSets();
    return podSets.size() == 1
        ? podSets.getFirst().template().fingerprint()
        : PodTemplateHash.digest(
            podSets.stream()
                .map(podSet -> podSet.name() + "=" + podSet.template().fingerprint())
                .collect(Collectors.joining(",")));
  }

  /** What the pods request, as the templates say it: defaults of the namespace are the same. */
  private static String request(CachedWorkload workload) {
    return PodTemplateHash.digest(
        workload.spec().podSets().stream()
            .map(
                podSet ->
                    podSet.count()
                        + "*"
                        + PodRequests.of(
                                podSet.template(), NamespaceLimits.NONE, ResourceContext.NONE)
                            .perPod())
            .collect(Collectors.joining(",")));
  }
}
