package dev.sluice.api.v1beta2;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/** Worker clusters that one admission check chooses from. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("multikueueconfigs")
public final class MultiKueueConfig extends EmptyResource<MultiKueueConfigSpec, Void> {

  /** Makes an object that has metadata and no spec. */
  public MultiKueueConfig() {}
}
