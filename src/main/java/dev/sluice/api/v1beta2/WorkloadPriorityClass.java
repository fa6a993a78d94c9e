package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.schema.Text;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.generator.annotation.Required;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/**
 * A priority that jobs can name. It orders waiting jobs and decides who may be preempted; the pods'
 * own priority is left alone.
 */
@JsonClassDescription(
    "A priority that jobs can name. It orders waiting jobs and decides who may "
        + "be preempted; the pods' own priority is left alone.")
@Group(ApiVersions.GROUP)
@Version(value = ApiVersions.V1BETA2)
@Kind("WorkloadPriorityClass")
@Plural("workloadpriorityclasses")
@Singular("workloadpriorityclass")
@ShortNames({"wpc"})
@AdditionalPrinterColumn(
    name = "Value",
    jsonPath = ".value",
    type = AdditionalPrinterColumn.Type.INTEGER,
    getDescription = "The priority.")
public final class WorkloadPriorityClass extends CustomResource<Void, Void> {
  @Required
  @JsonPropertyDescription(
      "The priority; larger goes first. Changing it changes the priority of all "
          + "unfinished workloads that name this class.")
  private int value;

  @Text(max = 2048)
  @JsonPropertyDescription("What the class is for.")
  @Nullable
  private String description;

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
