package dev.sluice.checks.multikueue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.v1beta2.ClusterSource;
import dev.sluice.api.v1beta2.KubeConfig;
import dev.sluice.api.v1beta2.LocationType;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.MultiKueueClusterStatus;
import dev.sluice.checks.multikueue.access.Access;
import dev.sluice.checks.multikueue.access.AccessSource;
import dev.sluice.checks.multikueue.link.ClusterLinks;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.MergePatches;
import dev.sluice.controllers.Notices;
import dev.sluice.controllers.PatchOutcome;
import dev.sluice.controllers.kinds.LeaderReconciler;
import dev.sluice.controllers.kinds.Remarks;
import dev.sluice.controllers.kinds.Signals;
import dev.sluice.controllers.kinds.WrittenStatuses;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A MultiKueueCluster: it is connected to as it says, and its condition says what came of it. */
final class ClusterReconciler extends LeaderReconciler<MultiKueueCluster> {

  /** How often a kubeconfig in a file is read again. */
  private static final Duration FILES = Duration.ofSeconds(5);

  private static final String DEPRECATED_PATH = "DeprecatedPathUsage";

  private final AccessSource source;
  private final boolean pathsConfined;
  private final ClusterLinks links;
  private final WrittenStatuses<MultiKueueClusterStatus> statuses;
  private final Remarks remarks;
  private final InstantSource clock;

  ClusterReconciler(
      Leadership leadership,
      Signals<MultiKueueCluster> signals,
      AccessSource source,
      boolean pathsConfined,
      ClusterLinks links,
      MergePatches patches,
      ObjectMapper mapper,
      Notices notices,
      InstantSource clock) {
    super(leadership, signals);
    this.source = source;
    this.pathsConfined = pathsConfined;
    this.links = links;
    this.statuses = new WrittenStatuses<>(mapper, patches, MultiKueueClusterStatus.class);
    this.remarks = new Remarks(notices);
    this.clock = clock;
  }

  @Override
  protected Step step(MultiKueueCluster cluster) {
    String name = cluster.getMetadata().getName();
    ClusterSource clusterSource = cluster.getSpec().clusterSource();
    Access access = source.of(clusterSource);
    switch (access) {
      case Access.Usable usable -> links.use(name, usable.credentials());
      case Access.Here here -> links.forget(name);
      case Access.Refused refused -> links.bar(name);
      case Access.Unknown unknown -> {
        return new Step.Done();
      }
    }
    boolean file = isFile(clusterSource.kubeConfig());
    if (file && !pathsConfined) {
      remarks.say(
          cluster,
          DEPRECATED_PATH,
          List.of(
              "clusterSource.kubeConfig.location is taken from anywhere since the feature gate"
                  + " MultiKueueKubeConfigPathValidation is off; move the file to"
                  + " /etc/multikueue/kubeconfigs"));
    }
    Step step =
        ClusterConditions.of(access, links.state(name))
            .flatMap(condition -> write(cluster, condition))
            .map(outcome -> after(cluster, outcome))
            .orElseGet(Step.Done::new);
    return file && step instanceof Step.Done ? new Step.Again(FILES) : step;
  }

  private Optional<PatchOutcome> write(MultiKueueCluster cluster, ActiveCondition condition) {
    return statuses.write(
        cluster,
        standing -> {
          List<Condition> conditions = standing == null ? List.of() : standing.conditions();
          return new MultiKueueClusterStatus(
              condition.in(conditions, generation(cluster), clock.instant()));
        });
  }

  private static boolean isFile(@Nullable KubeConfig kubeConfig) {
    return kubeConfig != null && kubeConfig.locationType() == LocationType.PATH;
  }

  @Override
  protected void forget(MultiKueueCluster cluster) {
    links.forget(cluster.getMetadata().getName());
    statuses.forget(cluster);
    remarks.forget(cluster);
  }
}
