package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.MultiKueueConfig.MultiKueueConfigSpec;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Worker clusters that one admission check chooses from. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("multikueueconfigs")
public final class MultiKueueConfig extends EmptyResource<MultiKueueConfigSpec, Void> {

  /** Makes an object that has metadata and no spec. */
  public MultiKueueConfig() {}

  /** The worker clusters a job may be sent to. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record MultiKueueConfigSpec(
      @JsonInclude(JsonInclude.Include.ALWAYS) List<String> clusters,
      @Nullable QuotaManagement quotaManagement) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public MultiKueueConfigSpec {
      clusters = Defaults.orEmpty(clusters);
    }
  }

  /**
   * Who sets the quota of a cluster queue in front of worker clusters. The constants are named as
   * in the API.
   */
  public enum QuotaManagement {
    /** {@code Manual}. */
    @JsonProperty("Manual")
    MANUAL,
    /** {@code Automated}. */
    @JsonProperty("Automated")
    AUTOMATED
  }
}
