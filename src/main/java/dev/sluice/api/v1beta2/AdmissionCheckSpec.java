package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/** Who answers an admission check, and with which parameters. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionCheckSpec(
    String controllerName, @Nullable AdmissionCheckParametersReference parameters) {}
