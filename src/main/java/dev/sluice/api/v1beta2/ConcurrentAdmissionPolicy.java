package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;

/** How a workload is tried on several flavors at once. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ConcurrentAdmissionPolicy(ConcurrentAdmissionMigration migration) {}
