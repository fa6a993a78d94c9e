package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Quantity;
import org.jspecify.annotations.Nullable;

/** What a local queue uses of one resource of one flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LocalQueueResourceUsage(String name, @Nullable Quantity total) {}
