package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/** Limits of moves to a preferred flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ConcurrentAdmissionMigrationConstraints(@Nullable String lastAcceptableFlavorName) {}
