package dev.sluice.webhooks.kinds;

import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionRequest;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.rules.StoredSize;

/**
 * Rejects jobs and pods that grow so large that their end finds no room: the API server stores 1.5
 * MiB, and could store neither that a job is suspended nor that a pod is being deleted
 * (docs/webhooks.md#what-is-done-to-a-job). Delegates everything else to another function.
 */
final class RoomProtection implements AdmissionFunction {

  private static final long MOST = 1280 * 1024;

  private final AdmissionFunction function;

  RoomProtection(AdmissionFunction function) {
    this.function = function;
  }

  @Override
  public AdmissionResult review(AdmissionRequest request) {
    if ((request.isCreate() || request.isUpdate()) && !request.isFinalizing()) {
      long bytes = StoredSize.of(request.object());
      if (bytes > MOST && bytes > StoredSize.of(request.oldObject())) {
        FieldErrors errors = new FieldErrors();
        errors.forbidden(
            FieldPath.of("metadata"),
            "the object would take %d bytes, with its spec and status; it may take %d, so that its end can be stored"
                .formatted(bytes, MOST));
        return new AdmissionResult.Rejected(errors.errors());
      }
    }
    return function.review(request);
  }
}
