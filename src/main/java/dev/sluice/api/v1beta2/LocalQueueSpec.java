package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import org.jspecify.annotations.Nullable;

/** The cluster queue behind a local queue. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LocalQueueSpec(
    @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription(
            "Cluster queue that workloads of this queue get their quota from. It can't "
                + "be changed once set.")
        @Nullable String clusterQueue,
    @JsonPropertyDescription(
            "Weight of this queue when past usage orders admission; zero means that its "
                + "usage counts as infinite.")
        @Nullable FairSharing fairSharing,
    @Default("None")
        @JsonPropertyDescription(
            "None: open. Hold: nothing new of this queue is admitted, and what has only "
                + "reserved quota gives it back. HoldAndDrain: its running workloads are "
                + "evicted too.")
        StopPolicy stopPolicy) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public LocalQueueSpec {
    stopPolicy = Defaults.or(stopPolicy, StopPolicy.NONE);
  }
}
