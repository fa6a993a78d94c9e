package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/** Worker clusters that one admission check chooses from. */
@JsonClassDescription("Worker clusters that one admission check chooses from.")
@Group(ApiVersions.GROUP)
@Version(value = ApiVersions.V1BETA2)
@Kind("MultiKueueConfig")
@Plural("multikueueconfigs")
@Singular("multikueueconfig")
@ShortNames({"mkconf"})
public final class MultiKueueConfig extends CustomResource<MultiKueueConfigSpec, Void> {

  /** Makes an object that has metadata and no spec. */
  public MultiKueueConfig() {}

  /** Nothing is said about a new object until its spec is set. */
  @Override
  protected @Nullable MultiKueueConfigSpec initSpec() {
    return null;
  }
}
