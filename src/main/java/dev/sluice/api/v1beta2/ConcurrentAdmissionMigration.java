package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/** When a running workload moves to a preferred flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ConcurrentAdmissionMigration(
    ConcurrentAdmissionMode mode, @Nullable ConcurrentAdmissionMigrationConstraints constraints) {}
