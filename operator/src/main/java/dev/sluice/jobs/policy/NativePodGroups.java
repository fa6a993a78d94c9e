package dev.sluice.jobs.policy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.NameHash;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.policy.JobAction.MakePodGroup;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.workload.record.CachedWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The PodGroups of kube-scheduler that a job gets when it starts, one for each pod set of several
 * pods, if the job asks for them (docs/gang-scheduling.md).
 *
 * @param podSetInfos what the pod sets get, the names of their PodGroups among it
 * @param actions what comes before the start
 */
public record NativePodGroups(List<PodSetInfo> podSetInfos, List<JobAction> actions) {

  /** The API group of PodGroups. */
  public static final String GROUP = "scheduling.k8s.io";

  /** Their plural. */
  public static final String PLURAL = "podgroups";

  /** Why a job is warned that the API server serves no PodGroups. */
  static final String NOT_SERVED = "PodGroupsNotServed";

  private static final int HASH = 5;

  /** Keeps copies of the lists. */
  public NativePodGroups {
    podSetInfos = List.copyOf(podSetInfos);
    actions = List.copyOf(actions);
  }

  /** Those of a job that starts with these. */
  static NativePodGroups of(
      CachedJob job, CachedWorkload workload, List<PodSetInfo> podSetInfos, JobOptions options) {
    if (!options.on(FeatureGate.WAS_POD_GROUPS)
        || !"true".equals(job.annotations().get(KueueConstants.WAS_POD_GROUP))
        || job.isElastic() && options.on(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES)) {
      return new NativePodGroups(podSetInfos, List.of());
    }
    Optional<String> version = options.clusterState().podGroups().get();
    if (version.isEmpty()) {
      Warn warn =
          new Warn(
              NOT_SERVED,
              "annotation "
                  + KueueConstants.WAS_POD_GROUP
                  + " has no effect: the API server serves no PodGroups of "
                  + GROUP);
      return new NativePodGroups(podSetInfos, List.of(warn));
    }
    List<PodSetInfo> named = new ArrayList<>();
    List<JobAction> actions = new ArrayList<>();
    for (PodSetInfo info : podSetInfos) {
      int pods = pods(job, workload, info);
      if (pods < 2) {
        named.add(info);
        continue;
      }
      String name = name(workload, info.name());
      named.add(info.withAnnotation(KueueConstants.NATIVE_POD_GROUP, name));
      actions.add(
          new MakePodGroup(
              "/apis/%s/%s/namespaces/%s/%s"
                  .formatted(GROUP, version.get(), workload.id().namespace(), PLURAL),
              manifest(workload, version.get(), name, pods)));
    }
    return new NativePodGroups(named, actions);
  }

  /**
   * How many pods of a pod set come at once. Those that are done don't come again, and a group that
   * waits for more pods than come would wait forever.
   */
  private static int pods(CachedJob job, CachedWorkload workload, PodSetInfo info) {
    int done = job.state().reclaimable().getOrDefault(info.name(), 0);
    int left =
        workload.spec().podSets().stream()
            .filter(podSet -> podSet.name().equals(info.name()))
            .mapToInt(podSet -> podSet.count() - done)
            .findFirst()
            .orElse(info.count());
    return Math.min(info.count(), left);
  }

  /** The name is that of the Workload and the pod set, cut to size, and a hash of both. */
  private static String name(CachedWorkload workload, String podSet) {
    String readable = workload.id().name() + "-" + podSet;
    int room = KubernetesNames.MAX_SUBDOMAIN - HASH - 1;
    String cut = readable.substring(0, Math.min(room, readable.length()));
    return cut.replaceFirst("[-.]+$", "")
        + "-"
        + NameHash.sha1(workload.id().uid() + "\n" + podSet).substring(0, HASH);
  }

  private static ObjectNode manifest(
      CachedWorkload workload, String version, String name, int pods) {
    ObjectNode podGroup = JsonNodeFactory.instance.objectNode();
    podGroup.put("apiVersion", GROUP + "/" + version).put("kind", "PodGroup");
    ObjectNode metadata = podGroup.putObject("metadata");
    metadata.put("name", name).put("namespace", workload.id().namespace());
    metadata.putObject("labels").put(KueueConstants.MANAGED, "true");
    metadata
        .putArray("ownerReferences")
        .addObject()
        .put("apiVersion", ApiVersions.GROUP + "/" + ApiVersions.V1BETA2)
        .put("kind", "Workload")
        .put("name", workload.id().name())
        .put("uid", workload.id().uid());
    podGroup
        .putObject("spec")
        .putObject("schedulingPolicy")
        .putObject("gang")
        .put("minCount", pods);
    return podGroup;
  }
}
