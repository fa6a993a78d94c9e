package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import java.math.BigDecimal;
import java.util.Optional;

/** Validates quantities. */
public final class QuantityValidation {

  /** The largest quantity that the API can express: the largest signed 64-bit integer. */
  static final BigDecimal MAX = BigDecimal.valueOf(Long.MAX_VALUE);

  private QuantityValidation() {}

  /**
   * Adds an error unless the value is a quantity from 0 to the largest amount.
   *
   * @return the amount, if it is valid
   */
  public static Optional<BigDecimal> checkNonNegative(
      FieldPath path, JsonNode value, FieldErrors errors) {
    Optional<BigDecimal> amount = checkQuota(path, value, errors);
    if (amount.isPresent() && amount.get().compareTo(MAX) > 0) {
      errors.invalid(path, value, "must be less than or equal to " + MAX.toPlainString());
      return Optional.empty();
    }
    return amount;
  }

  /**
   * Adds an error unless the value is a quantity of 0 or more. A quota may be larger than any
   * amount: it is unlimited then.
   *
   * @return the amount, if it is valid
   */
  static Optional<BigDecimal> checkQuota(FieldPath path, JsonNode value, FieldErrors errors) {
    Optional<BigDecimal> amount = parse(value);
    if (amount.isEmpty()) {
      errors.invalid(path, value, "must be a quantity, such as 10, 500m or 4Gi");
      return amount;
    }
    if (amount.get().signum() < 0) {
      errors.invalid(path, value, "must be greater than or equal to 0");
      return Optional.empty();
    }
    return amount;
  }

  private static Optional<BigDecimal> parse(JsonNode value) {
    if (!value.isTextual() && !value.isIntegralNumber()) {
      return Optional.empty();
    }
    try {
      return Optional.of(Quantities.parse(value.asText()));
    } catch (IllegalArgumentException notAQuantity) {
      return Optional.empty();
    }
  }
}
