package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.sluice.api.ApiVersions;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/**
 * A condition, answered by some controller, that workloads have to pass after they got quota and
 * before they start.
 */
@JsonClassDescription(
    "A condition, answered by some controller, that workloads have to pass after "
        + "they got quota and before they start.")
@Group(ApiVersions.GROUP)
@Version(
    value = ApiVersions.V1BETA1,
    storage = false,
    deprecated = true,
    deprecationWarning = "kueue.x-k8s.io/v1beta1 AdmissionCheck is deprecated; use v1beta2")
@Kind("AdmissionCheck")
@Plural("admissionchecks")
@Singular("admissioncheck")
@ShortNames({"ac"})
@ValidationRule(
    value =
        "!has(oldSelf.spec) || has(self.spec) && self.spec.controllerName == "
            + "oldSelf.spec.controllerName",
    messageExpression =
        "'spec.controllerName can not change, it is ' + oldSelf.spec.controllerName")
public final class AdmissionCheck extends CustomResource<AdmissionCheckSpec, AdmissionCheckStatus> {

  /** Makes an object that has metadata and no spec or status. */
  public AdmissionCheck() {}

  /** Nothing is said about a new object until its spec is set. */
  @Override
  protected @Nullable AdmissionCheckSpec initSpec() {
    return null;
  }

  /** A new object has no status. */
  @Override
  protected @Nullable AdmissionCheckStatus initStatus() {
    return null;
  }
}
