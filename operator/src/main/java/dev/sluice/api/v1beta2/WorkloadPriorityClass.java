package dev.sluice.api.v1beta2;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/**
 * A priority that jobs can name. It orders waiting jobs and decides who may be preempted; the pods'
 * own priority is left alone.
 */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("workloadpriorityclasses")
public final class WorkloadPriorityClass extends CustomResource<Void, Void> {
  private int value;

  @Nullable private String description;

  /** Makes an object without metadata. */
  public WorkloadPriorityClass() {}

  /** The priority; larger goes first. */
  public int getValue() {
    return value;
  }

  /** Sets the priority. */
  public void setValue(int value) {
    this.value = value;
  }

  /** What the class is for, or null. */
  public @Nullable String getDescription() {
    return description;
  }

  /** Sets what the class is for. */
  public void setDescription(@Nullable String description) {
    this.description = description;
  }
}
