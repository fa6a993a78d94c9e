package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.DateTime;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The answer of one admission check. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionCheckState(
    @Required @Text(min = 1, max = 316) @JsonPropertyDescription("Name of the admission check.")
        String name,
    @Required @DateTime @JsonPropertyDescription("When the state last changed.")
        String lastTransitionTime,
    @Required
        @Text(max = 32768)
        @JsonPropertyDescription("What a person should know about the state.")
        String message,
    @Required
        @JsonPropertyDescription(
            "Pending: not answered yet. Ready: passed. Retry: the workload gives its "
                + "quota back and tries again. Rejected: the workload is stopped for good.")
        CheckState state,
    @Size(max = 18)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("What the check wants to be added to the pods.")
        List<PodSetUpdate> podSetUpdates,
    @Min(0)
        @JsonPropertyDescription(
            "Seconds after which a workload that has to retry may be queued again.")
        @Nullable Integer requeueAfterSeconds,
    @Min(0) @JsonPropertyDescription("How often the check asked for a retry.")
        @Nullable Integer retryCount) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public AdmissionCheckState {
    podSetUpdates = Defaults.orEmpty(podSetUpdates);
  }

  /** A builder on which nothing is set yet. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder that starts from this value. */
  public Builder toBuilder() {
    return new Builder()
        .name(name)
        .lastTransitionTime(lastTransitionTime)
        .message(message)
        .state(state)
        .podSetUpdates(podSetUpdates)
        .requeueAfterSeconds(requeueAfterSeconds)
        .retryCount(retryCount);
  }

  /**
   * Collects the parts of a {@link AdmissionCheckState}; each method is named after the field it
   * sets.
   */
  public static final class Builder {
    private @Nullable String name;
    private @Nullable String lastTransitionTime;
    private @Nullable String message;
    private @Nullable CheckState state;
    private List<PodSetUpdate> podSetUpdates = List.of();
    private @Nullable Integer requeueAfterSeconds;
    private @Nullable Integer retryCount;

    private Builder() {}

    /** Sets the field of this name. */
    public Builder name(String name) {
      this.name = name;
      return this;
    }

    /** Sets the field of this name. */
    public Builder lastTransitionTime(String lastTransitionTime) {
      this.lastTransitionTime = lastTransitionTime;
      return this;
    }

    /** Sets the field of this name. */
    public Builder message(String message) {
      this.message = message;
      return this;
    }

    /** Sets the field of this name. */
    public Builder state(CheckState state) {
      this.state = state;
      return this;
    }

    /** Sets the field of this name. */
    public Builder podSetUpdates(List<PodSetUpdate> podSetUpdates) {
      this.podSetUpdates = podSetUpdates;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder requeueAfterSeconds(@Nullable Integer requeueAfterSeconds) {
      this.requeueAfterSeconds = requeueAfterSeconds;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder retryCount(@Nullable Integer retryCount) {
      this.retryCount = retryCount;
      return this;
    }

    /** The value. What the API requires has to be set. */
    public AdmissionCheckState build() {
      return new AdmissionCheckState(
          Objects.requireNonNull(name, "name"),
          Objects.requireNonNull(lastTransitionTime, "lastTransitionTime"),
          Objects.requireNonNull(message, "message"),
          Objects.requireNonNull(state, "state"),
          podSetUpdates,
          requeueAfterSeconds,
          retryCount);
    }
  }
}
