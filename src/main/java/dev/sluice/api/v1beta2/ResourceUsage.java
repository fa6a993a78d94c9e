package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Quantity;
import org.jspecify.annotations.Nullable;

/** What is in use of one resource of one flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ResourceUsage(String name, @Nullable Quantity borrowed, @Nullable Quantity total) {}
