package dev.sluice.webhooks.rules;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.TextLimits;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Validates the annotation that names the admission gates of a job or Workload. */
public final class AdmissionGateValidation {

  private static final FieldPath PATH =
      FieldPath.of("metadata", "annotations").key(KueueConstants.ADMISSION_GATED_BY);
  private static final int MAX_LENGTH = 63;

  private AdmissionGateValidation() {}

  /**
   * Validates the annotation of an object that is created or changed; one without it is valid. An
   * empty annotation isn't: whoever takes the last name off removes it
   * (docs/workload-lifecycle.md).
   */
  public static void validateObject(Map<String, String> annotations, FieldErrors errors) {
    String value = annotations.get(KueueConstants.ADMISSION_GATED_BY);
    if (value == null) {
      return;
    }
    Optional<String> length = TextLimits.fault(value);
    if (length.isPresent()) {
      errors.invalid(PATH, value, length.get());
      return;
    }
    Set<String> seen = new HashSet<>();
    for (String item : TextLimits.items(value)) {
      if (item.isEmpty()) {
        errors.invalid(PATH, value, "must be names separated by commas, none of them empty");
        return;
      } else if (!seen.add(item)) {
        errors.duplicate(PATH, item, "a name may appear only once");
      } else if (item.length() > MAX_LENGTH) {
        errors.invalid(PATH, item, "must be no more than " + MAX_LENGTH + " bytes");
      } else {
        errors.invalid(PATH, item, NameValidation.domainPrefixedPath(item));
      }
    }
  }

  /**
   * Validates an update: gates may be removed after creation, but not added. Empty names are left
   * to {@link #validateObject}.
   */
  public static void validateUpdate(
      Map<String, String> before, Map<String, String> now, FieldErrors errors) {
    String value = now.get(KueueConstants.ADMISSION_GATED_BY);
    if (value == null) {
      return;
    }
    String old = before.get(KueueConstants.ADMISSION_GATED_BY);
    if (old == null) {
      errors.forbidden(PATH, "may be given only at creation, now \"" + value + "\"");
      return;
    }
    Set<String> added = new LinkedHashSet<>(TextLimits.items(value));
    added.remove("");
    TextLimits.items(old).forEach(added::remove);
    if (!added.isEmpty()) {
      errors.invalid(
          PATH, value, "names may only be removed, not added: " + String.join(", ", added));
    }
  }
}
