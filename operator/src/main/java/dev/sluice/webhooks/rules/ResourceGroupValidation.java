package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.json.JsonFields;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Validates the resource groups of ClusterQueues and Cohorts.
 *
 * @param parentField the field that names the cohort to borrow from
 * @param lendingWithinNominal whether the lending limit must not exceed the nominal quota
 */
public record ResourceGroupValidation(String parentField, boolean lendingWithinNominal) {

  private static final FieldPath GROUPS = FieldPath.of("spec", "resourceGroups");
  private static final int MAX_FLAVORS = 256;
  private static final int MAX_RESOURCES = 256;
  private static final int MAX_CELLS = 512;
  private static final BigDecimal LEAST_WEIGHT = BigDecimal.ONE.scaleByPowerOfTen(-9);

  /** Validates the resource groups of the spec of a ClusterQueue or Cohort. */
  public void validate(JsonNode spec, FieldErrors errors) {
    boolean hasParent = !JsonFields.text(spec, parentField).isEmpty();
    Set<String> resources = new HashSet<>();
    Set<String> flavors = new HashSet<>();
    List<JsonNode> groups = JsonFields.list(spec, "resourceGroups");
    totals(groups, errors);
    for (int i = 0; i < groups.size(); i++) {
      List<String> covered = JsonFields.texts(groups.get(i), "coveredResources");
      List<JsonNode> groupFlavors = JsonFields.list(groups.get(i), "flavors");
      covered(GROUPS.index(i).child("coveredResources"), covered, resources, errors);
      for (int j = 0; j < groupFlavors.size(); j++) {
        FieldPath path = GROUPS.index(i).child("flavors").index(j);
        flavorName(
            path.child("name"), JsonFields.text(groupFlavors.get(j), "name"), flavors, errors);
        quotas(path.child("resources"), groupFlavors.get(j), covered, hasParent, errors);
      }
      int cells = covered.size() * groupFlavors.size();
      if (cells > MAX_CELLS) {
        errors.tooMany(GROUPS.index(i), cells, MAX_CELLS, "pairs of flavor and resource");
      }
    }
  }

  /** Comes first: what is too large has more errors than are shown. */
  private static void totals(List<JsonNode> groups, FieldErrors errors) {
    int flavors = groups.stream().mapToInt(it -> JsonFields.list(it, "flavors").size()).sum();
    int resources =
        groups.stream().mapToInt(it -> JsonFields.list(it, "coveredResources").size()).sum();
    if (flavors > MAX_FLAVORS) {
      errors.tooMany(GROUPS, flavors, MAX_FLAVORS, "flavors over all groups");
    }
    if (resources > MAX_RESOURCES) {
      errors.tooMany(GROUPS, resources, MAX_RESOURCES, "covered resources over all groups");
    }
  }

  /** Validates the weight of fair sharing; a spec without it is valid. */
  public static void weight(JsonNode spec, FieldErrors errors) {
    JsonNode weight = JsonFields.at(spec, "fairSharing", "weight");
    if (weight.isMissingNode()) {
      return;
    }
    FieldPath path = FieldPath.of("spec", "fairSharing", "weight");
    QuantityValidation.checkNonNegative(path, weight, errors)
        .filter(it -> it.signum() > 0 && it.compareTo(LEAST_WEIGHT) <= 0)
        .ifPresent(it -> errors.invalid(path, weight, "must be 0 or greater than 1n"));
  }

  private static void covered(
      FieldPath path, List<String> covered, Set<String> seen, FieldErrors errors) {
    for (int i = 0; i < covered.size(); i++) {
      String name = covered.get(i);
      errors.invalid(path.index(i), name, NameValidation.qualified(name));
      if (!seen.add(name)) {
        errors.duplicate(path.index(i), name, "a resource may appear in only one resource group");
      }
    }
  }

  private static void flavorName(
      FieldPath path, String name, Set<String> seen, FieldErrors errors) {
    errors.invalid(path, name, NameValidation.subdomain(name));
    if (!seen.add(name)) {
      errors.duplicate(path, name, "a flavor may appear in only one resource group, once");
    }
  }

  private void quotas(
      FieldPath path,
      JsonNode flavor,
      List<String> covered,
      boolean hasParent,
      FieldErrors errors) {
    List<JsonNode> resources = JsonFields.list(flavor, "resources");
    if (resources.size() != covered.size()) {
      errors.invalid(
          path,
          String.valueOf(resources.size()),
          "must have the same number of resources as coveredResources, " + covered.size());
    }
    for (int i = 0; i < resources.size(); i++) {
      String name = JsonFields.text(resources.get(i), "name");
      if (i < covered.size() && !name.equals(covered.get(i))) {
        errors.invalid(
            path.index(i).child("name"),
            name,
            "must match the name in coveredResources at the same place, \""
                + covered.get(i)
                + "\"");
      }
      quota(path.index(i), resources.get(i), hasParent, errors);
    }
  }

  private void quota(FieldPath path, JsonNode quota, boolean hasParent, FieldErrors errors) {
    FieldPath nominalPath = path.child("nominalQuota");
    Optional<BigDecimal> nominal =
        QuantityValidation.checkQuota(nominalPath, JsonFields.at(quota, "nominalQuota"), errors);
    limit(path.child("borrowingLimit"), JsonFields.at(quota, "borrowingLimit"), hasParent, errors);
    JsonNode lendingLimit = JsonFields.at(quota, "lendingLimit");
    FieldPath lendingPath = path.child("lendingLimit");
    Optional<BigDecimal> lending = limit(lendingPath, lendingLimit, hasParent, errors);
    if (lendingWithinNominal
        && lending.isPresent()
        && nominal.isPresent()
        && lending.get().compareTo(nominal.get()) > 0) {
      errors.invalid(
          lendingPath,
          lendingLimit,
          "must be less than or equal to the nominalQuota, "
              + JsonFields.at(quota, "nominalQuota").asText());
    }
  }

  private Optional<BigDecimal> limit(
      FieldPath path, JsonNode value, boolean hasParent, FieldErrors errors) {
    if (value.isMissingNode()) {
      return Optional.empty();
    }
    if (!hasParent) {
      errors.invalid(path, value, "must be nil when " + parentField + " is empty");
    }
    return QuantityValidation.checkQuota(path, value, errors);
  }

  /** Validates quantities. */
  public static final class QuantityValidation {

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
}
