package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.conversion.HubConverter.ConversionData;
import dev.sluice.api.conversion.HubConverter.ConversionException;
import dev.sluice.api.conversion.HubConverter.KindConversion;
import dev.sluice.api.json.JsonFields;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Cluster queues of v1alpha2: quota by resource, with a guaranteed and a greatest amount. How
 * either form was written stays with the object and is shown again as long as it still means what
 * the object says.
 */
final class ClusterQueueV1Alpha2 implements KindConversion {

  private static final Set<String> KNOWN =
      Set.of("cohort", "namespaceSelector", "queueingStrategy", "resources");
  private static final String WRITTEN = "resourceGroups";

  @Override
  public void convertToHub(ObjectNode object, ConversionData conversionData) {
    ObjectNode said = conversionData.restored();
    ArrayNode written = JsonFields.array(said.remove(WRITTEN));
    if (!(object.get("spec") instanceof ObjectNode spec)) {
      JsonFields.setUnlessEmpty(object, "spec", said);
      return;
    }
    JsonFields.rename(spec, "cohort", "cohortName");
    boolean cohort = spec.has("cohortName");
    ArrayNode resources = JsonFields.array(spec.remove("resources"));
    ArrayNode groups = V1Alpha2Quotas.groups(resources, cohort);
    if (cohort || !limited(written)) {
      groups =
          V1Alpha2Quotas.resources(written).equals(resources) ? written : lending(groups, written);
    }
    JsonFields.setUnlessEmpty(spec, "resourceGroups", groups);
    JsonFields.fill(spec, said);
    if (!V1Alpha2Quotas.resources(groups).equals(resources)) {
      conversionData.preserved().set("resources", resources);
    }
  }

  @Override
  public void convertFromHub(ObjectNode object, ConversionData conversionData) {
    if (!(object.get("spec") instanceof ObjectNode spec)) {
      return;
    }
    ArrayNode groups = JsonFields.array(spec.remove("resourceGroups"));
    JsonFields.rename(spec, "cohortName", "cohort");
    boolean cohort = spec.has("cohort");
    JsonFields.moveAllBut(spec, KNOWN, conversionData.preserved());
    ArrayNode written = JsonFields.array(conversionData.restored().get("resources"));
    if (!meansTheSame(written, cohort, groups)) {
      written = V1Alpha2Quotas.resources(groups);
    }
    JsonFields.setUnlessEmpty(spec, "resources", written);
    if (!meansTheSame(written, cohort, groups)) {
      JsonFields.setUnlessEmpty(conversionData.preserved(), WRITTEN, groups);
    }
  }

  private static boolean meansTheSame(ArrayNode resources, boolean cohort, ArrayNode groups) {
    try {
      return V1Alpha2Quotas.groups(resources, cohort).equals(groups);
    } catch (ConversionException e) {
      return false;
    }
  }

  private static boolean limited(ArrayNode groups) {
    return !groups.findValues("borrowingLimit").isEmpty()
        || !groups.findValues("lendingLimit").isEmpty();
  }

  /**
   * Keeps the limits of lending, which v1alpha2 knows nothing of, where they still limit anything.
   */
  private static ArrayNode lending(ArrayNode groups, ArrayNode written) {
    for (JsonNode group : groups) {
      for (JsonNode flavor : group.path("flavors")) {
        for (JsonNode resource : flavor.path("resources")) {
          JsonNode limit = lendingLimit(written, flavor, resource);
          if (limit != null && JsonQuantities.less(limit, resource.path("nominalQuota"))) {
            ((ObjectNode) resource).set("lendingLimit", limit);
          }
        }
      }
    }
    return groups;
  }

  private static @Nullable JsonNode lendingLimit(
      ArrayNode written, JsonNode flavor, JsonNode resource) {
    for (JsonNode group : written) {
      ObjectNode quotas = JsonFields.named(group.path("flavors"), flavor.path("name").asText());
      JsonNode limit =
          JsonFields.named(quotas.path("resources"), resource.path("name").asText())
              .get("lendingLimit");
      if (limit != null) {
        return limit;
      }
    }
    return null;
  }

  /** Quota as v1alpha2 writes it, and as the stored version does. */
  private static final class V1Alpha2Quotas {

    private V1Alpha2Quotas() {}

    /**
     * The groups of the stored version. Resources that list the same flavors in the same order make
     * up a group.
     *
     * @param resources the list of v1alpha2
     * @param cohort whether the queue has a cohort, without which nothing can be borrowed
     */
    static ArrayNode groups(ArrayNode resources, boolean cohort) {
      Map<List<String>, ObjectNode> groups = new LinkedHashMap<>();
      for (int index = 0; index < resources.size(); index++) {
        JsonNode resource = resources.get(index);
        List<String> flavors =
            resource
                .path("flavors")
                .valueStream()
                .map(flavor -> flavor.path("name").asText())
                .toList();
        ObjectNode group = groups.computeIfAbsent(flavors, V1Alpha2Quotas::emptyGroup);
        group.withArray("coveredResources").add(resource.path("name").asText());
        for (int flavor = 0; flavor < flavors.size(); flavor++) {
          String path = "spec.resources[%d].flavors[%d].quota".formatted(index, flavor);
          ObjectNode quota =
              quota(resource.path("flavors").get(flavor).path("quota"), cohort, path);
          ObjectNode named = JsonNodeFactory.instance.objectNode();
          named.set("name", resource.path("name"));
          ((ArrayNode) group.path("flavors").get(flavor).path("resources"))
              .add(named.setAll(quota));
        }
      }
      return JsonNodeFactory.instance.arrayNode().addAll(groups.values());
    }

    private static ObjectNode emptyGroup(List<String> flavors) {
      ObjectNode group = JsonNodeFactory.instance.objectNode();
      group.putArray("coveredResources");
      ArrayNode list = group.putArray("flavors");
      flavors.forEach(name -> list.addObject().put("name", name).putArray("resources"));
      return group;
    }

    private static ObjectNode quota(JsonNode quota, boolean cohort, String path) {
      ObjectNode result = JsonNodeFactory.instance.objectNode();
      JsonNode min = quota.get("min");
      JsonNode max = quota.get("max");
      readable(min, path + ".min");
      readable(max, path + ".max");
      if (min != null && max != null && JsonQuantities.less(max, min)) {
        throw new ConversionException(
            "%s.max: %s is less than min, which is %s; it must not be"
                .formatted(path, max.asText(), min.asText()));
      }
      JsonNode nothing = JsonNodeFactory.instance.numberNode(0);
      JsonNode guaranteed = min != null ? min : max != null && !cohort ? max : nothing;
      result.set("nominalQuota", guaranteed);
      if (cohort && max != null) {
        result.set("borrowingLimit", JsonQuantities.difference(max, guaranteed));
      }
      return result;
    }

    private static void readable(@Nullable JsonNode amount, String path) {
      try {
        if (amount != null) {
          JsonQuantities.requireReadable(amount);
        }
      } catch (ConversionException e) {
        throw new ConversionException(path + ": " + e.getMessage());
      }
    }

    /** The list of v1alpha2, as far as it can say what the groups say. */
    static ArrayNode resources(ArrayNode groups) {
      ArrayNode result = JsonNodeFactory.instance.arrayNode();
      for (JsonNode group : groups) {
        for (JsonNode name : group.path("coveredResources")) {
          ObjectNode resource = result.addObject();
          resource.set("name", name);
          ArrayNode flavors = resource.putArray("flavors");
          for (JsonNode flavor : group.path("flavors")) {
            ObjectNode entry = flavors.addObject();
            entry.set("name", flavor.path("name"));
            entry.set(
                "quota", minAndMax(JsonFields.named(flavor.path("resources"), name.asText())));
          }
        }
      }
      return result;
    }

    private static ObjectNode minAndMax(ObjectNode quota) {
      ObjectNode result = quota.objectNode();
      JsonNode nominal = quota.get("nominalQuota");
      JsonNode borrowing = quota.get("borrowingLimit");
      if (nominal != null) {
        result.set("min", nominal);
        if (borrowing != null) {
          ceiling(nominal, borrowing).ifPresent(max -> result.set("max", max));
        }
      }
      return result;
    }

    /** Empty for amounts that can't be added; an object that is stored must stay readable. */
    private static Optional<JsonNode> ceiling(JsonNode nominal, JsonNode borrowing) {
      try {
        return Optional.of(JsonQuantities.sum(nominal, borrowing));
      } catch (ConversionException e) {
        return Optional.empty();
      }
    }
  }

  /** Arithmetic on quantities as they stand in JSON, as text or as number. */
  private static final class JsonQuantities {

    /** Such exponents would fill the memory with zeros. */
    private static final Pattern TOO_LARGE = Pattern.compile("[eE][+-]?0*[1-9]\\d\\d|^.{100}");

    private static final BigDecimal LONGEST = BigDecimal.valueOf(Long.MAX_VALUE);

    private JsonQuantities() {}

    /** Throws a {@link ConversionException} when this is no quantity. */
    static void requireReadable(JsonNode quantity) {
      value(quantity);
    }

    /** Whether the first quantity is less than the second. */
    static boolean less(JsonNode a, JsonNode b) {
      return value(a).compareTo(value(b)) < 0;
    }

    /** The sum, in the unit that both are written in if there is one. */
    static JsonNode sum(JsonNode a, JsonNode b) {
      return written(value(a).add(value(b)), a, b);
    }

    /** The difference, in the unit that both are written in if there is one. */
    static JsonNode difference(JsonNode a, JsonNode b) {
      return written(value(a).subtract(value(b)), a, b);
    }

    private static BigDecimal value(JsonNode quantity) {
      if (TOO_LARGE.matcher(quantity.asText()).find()) {
        throw new ConversionException(
            "quantity: \"%s\" is out of range; it must be below 2^63".formatted(quantity.asText()));
      }
      try {
        return Quantity.parse(quantity.asText()).getNumericalAmount();
      } catch (IllegalArgumentException e) {
        throw new ConversionException(
            "quantity: \"%s\" can't be read; it must be a number with an optional unit such as m, k or Gi"
                .formatted(quantity.asText()));
      }
    }

    /**
     * In the unit of the operands if they have one in common, which is how a person would write it.
     */
    private static JsonNode written(BigDecimal value, JsonNode a, JsonNode b) {
      boolean fits = value.abs().compareTo(LONGEST) <= 0;
      if (a.isIntegralNumber() && b.isIntegralNumber() && fits) {
        long whole = value.longValueExact();
        return whole == (int) whole
            ? JsonNodeFactory.instance.numberNode((int) whole)
            : JsonNodeFactory.instance.numberNode(whole);
      }
      String unit = unit(a).isEmpty() ? unit(b) : unit(a);
      boolean common = unit(a).isEmpty() || unit(b).isEmpty() || unit(a).equals(unit(b));
      BigDecimal one = new Quantity("1", common ? unit : "").getNumericalAmount();
      BigDecimal scaled = value.divide(one, 12, RoundingMode.HALF_UP).stripTrailingZeros();
      boolean exact = common && scaled.scale() <= 0 && scaled.multiply(one).compareTo(value) == 0;
      String text =
          exact ? scaled.toPlainString() + unit : value.stripTrailingZeros().toPlainString();
      return JsonNodeFactory.instance.textNode(text);
    }

    private static String unit(JsonNode quantity) {
      String format = Quantity.parse(quantity.asText()).getFormat();
      return format == null ? "" : format;
    }
  }
}
