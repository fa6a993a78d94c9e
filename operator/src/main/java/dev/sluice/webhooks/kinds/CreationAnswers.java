package dev.sluice.webhooks.kinds;

import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Adds lines to the answer of a review of a job that is created, or only tried (docs/simulate.md).
 * Whatever happens to the lines, the review is answered as without them.
 */
public final class CreationAnswers {

  private CreationAnswers() {}

  /**
   * The functions of the webhooks, those that validate jobs with lines for who creates one.
   *
   * @param functions by path
   * @param kinds those that are reviewed
   * @param lines what a creation is told, also one that is only tried; may take a second
   */
  public static Map<String, AdmissionFunction> around(
      Map<String, AdmissionFunction> functions,
      List<WebhookKind> kinds,
      Function<AdmissionRequest, List<String>> lines) {
    Map<String, AdmissionFunction> result = new HashMap<>(functions);
    for (WebhookKind kind : kinds) {
      if (!kind.isOwn()) {
        result.computeIfPresent(
            kind.validatingPath(), (_, validate) -> request -> review(request, validate, lines));
      }
    }
    return Map.copyOf(result);
  }

  private static AdmissionResult review(
      AdmissionRequest request,
      AdmissionFunction behindFunction,
      Function<AdmissionRequest, List<String>> lines) {
    AdmissionResult result = behindFunction.review(request);
    if (!request.isCreate()
        || !request.subResource().isEmpty()
        || !(result instanceof AdmissionResult.Allowed allowed)) {
      return result;
    }
    List<String> warnings = new ArrayList<>(allowed.warnings());
    warnings.addAll(lines.apply(request));
    return new AdmissionResult.Allowed(allowed.patch(), List.copyOf(warnings));
  }
}
