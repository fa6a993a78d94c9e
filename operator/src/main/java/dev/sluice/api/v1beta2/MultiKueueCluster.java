package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.MultiKueueCluster.MultiKueueClusterSpec;
import dev.sluice.api.v1beta2.MultiKueueCluster.MultiKueueClusterStatus;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A worker cluster that jobs can be sent to. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("multikueueclusters")
public final class MultiKueueCluster
    extends EmptyResource<MultiKueueClusterSpec, MultiKueueClusterStatus> {

  /** Makes an object that has metadata and no spec or status. */
  public MultiKueueCluster() {}

  /** How a worker cluster is reached. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record MultiKueueClusterSpec(ClusterSource clusterSource) {}

  /** Whether a worker cluster is reached. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record MultiKueueClusterStatus(
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Condition> conditions) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public MultiKueueClusterStatus {
      conditions = Defaults.orEmpty(conditions);
    }
  }

  /** Where the access data of a worker cluster comes from: exactly one of the two. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ClusterSource(
      @Nullable ClusterProfileReference clusterProfileRef, @Nullable KubeConfig kubeConfig) {}

  /** Where a kubeconfig is found. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record KubeConfig(String location, LocationType locationType) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public KubeConfig {
      locationType = Defaults.or(locationType, LocationType.SECRET);
    }
  }

  /** Where a kubeconfig is found. The constants are named as in the API. */
  public enum LocationType {
    /** {@code Secret}. */
    @JsonProperty("Secret")
    SECRET,
    /** {@code Path}. */
    @JsonProperty("Path")
    PATH
  }

  /** Names a ClusterProfile of the operator's namespace. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ClusterProfileReference(String name) {}
}
