package dev.sluice.api.v1alpha2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
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
        @Nullable String clusterQueue) {}
