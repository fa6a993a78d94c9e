package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import io.fabric8.generator.annotation.Default;
import io.fabric8.kubernetes.api.model.Quantity;

/** Weight in sharing idle quota. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FairSharing(
    @Default("1")
        @JsonPropertyDescription(
            "Share of idle quota relative to the others. 1 is usual; twice the weight "
                + "may borrow twice as much before it is as fair a target as the others. Zero "
                + "means that whoever borrows anything is first to give it back. Not negative, "
                + "and if positive more than 1n (one billionth).")
        Quantity weight) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public FairSharing {
    weight = Defaults.or(weight, new Quantity("1"));
  }
}
