package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;

/** Names a ClusterProfile of the operator's namespace. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ClusterProfileReference(String name) {}
