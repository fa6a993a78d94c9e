package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;

/** One level of a topology. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TopologyLevel(String nodeLabel) {}
