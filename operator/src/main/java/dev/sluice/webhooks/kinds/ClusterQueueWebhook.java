package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.TextLimits;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.queueing.CostAnnotations;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.LabelValidation;
import dev.sluice.webhooks.rules.NameValidation;
import dev.sluice.webhooks.rules.QueueAnnotationValidation;
import dev.sluice.webhooks.rules.ResourceGroupValidation;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Webhook for ClusterQueues. */
final class ClusterQueueWebhook {

  private static final FieldPath SPEC = FieldPath.of("spec");
  private static final FieldPath CHECKS =
      FieldPath.of("spec", "admissionChecksStrategy", "admissionChecks");
  private static final FieldPath POLICY = FieldPath.of("spec", "concurrentAdmissionPolicy");
  private static final ResourceGroupValidation QUOTAS =
      new ResourceGroupValidation("cohortName", true);
  private static final Set<String> MODES =
      Set.of("NoAdmissionFairSharing", "UsageBasedAdmissionFairSharing");
  private static final int MAX_CONCURRENT_FLAVORS = 32;
  private static final int MOST_SHOWN = 64;

  private final WebhookSettings settings;

  ClusterQueueWebhook(WebhookSettings settings) {
    this.settings = settings;
  }

  AdmissionResult mutate(AdmissionRequest request) {
    JsonPatch patch = new JsonPatch(request.object());
    if (request.isCreate()) {
      patch.append(TextNode.valueOf(KueueConstants.RESOURCE_IN_USE), "metadata", "finalizers");
    }
    return AdmissionResult.patched(patch);
  }

  AdmissionResult validate(AdmissionRequest request) {
    if (request.isFinalizing()) {
      return AdmissionResult.allowed();
    }
    FieldErrors errors = new FieldErrors();
    JsonNode spec = JsonFields.at(request.object(), "spec");
    JsonNode oldSpec = JsonFields.at(request.oldObject(), "spec");
    String cohort = JsonFields.text(spec, "cohortName");
    if (!cohort.isEmpty()) {
      errors.invalid(SPEC.child("cohortName"), cohort, NameValidation.subdomain(cohort));
    }
    QUOTAS.validate(spec, errors);
    ResourceGroupValidation.weight(spec, errors);
    LabelValidation.selector(
        SPEC.child("namespaceSelector"), JsonFields.at(spec, "namespaceSelector"), errors);
    checksOnFlavors(spec, oldSpec, errors);
    admissionMode(spec, oldSpec, errors);
    QueueAnnotationValidation.validate(
        request, annotations -> QueueAnnotations.ofClusterQueue(annotations).faults(), errors);
    backfill(request, spec, errors);
    maxDelay(request, spec, errors);
    if (settings.isOn(FeatureGate.CONCURRENT_ADMISSION)) {
      concurrentAdmission(spec, errors);
      if (request.isUpdate()) {
        policyStays(spec, oldSpec, errors);
      }
    }
    return AdmissionResult.of(errors.errors(), warnings(spec));
  }

  /** Only a queue whose head blocks has somebody who may start before the head. */
  private static void backfill(AdmissionRequest request, JsonNode spec, FieldErrors errors) {
    Map<String, String> annotations = JsonFields.annotations(request.object());
    String value = annotations.getOrDefault(QueueAnnotations.BACKFILL, "None");
    boolean strict =
        JsonFields.text(spec, "queueingStrategy").equals("StrictFIFO")
            && !annotations.containsKey(QueueAnnotations.STRATEGY);
    if (!value.equals("None") && !strict) {
      errors.invalid(
          FieldPath.of("metadata", "annotations").key(QueueAnnotations.BACKFILL),
          value,
          "must be None unless spec.queueingStrategy is StrictFIFO, without "
              + QueueAnnotations.STRATEGY);
    }
  }

  /** Who waits for a cheaper flavor must not keep others waiting, and has to know which is. */
  private static void maxDelay(AdmissionRequest request, JsonNode spec, FieldErrors errors) {
    Map<String, String> annotations = JsonFields.annotations(request.object());
    String value = annotations.get(CostAnnotations.MAX_DELAY);
    boolean waits =
        annotations.getOrDefault(CostAnnotations.FLAVOR_ORDER, "").equals("Cheapest")
            && !JsonFields.text(spec, "queueingStrategy").equals("StrictFIFO")
            && !annotations.containsKey(QueueAnnotations.STRATEGY);
    if (value != null && !waits) {
      errors.invalid(
          FieldPath.of("metadata", "annotations").key(CostAnnotations.MAX_DELAY),
          TextLimits.shown(value, MOST_SHOWN),
          "must be absent unless %s is Cheapest and spec.queueingStrategy is BestEffortFIFO, without %s"
              .formatted(CostAnnotations.FLAVOR_ORDER, QueueAnnotations.STRATEGY));
    }
  }

  private static List<String> warnings(JsonNode spec) {
    return JsonFields.isPresent(spec, "namespaceSelector")
        ? List.of()
        : List.of(
            "without spec.namespaceSelector the ClusterQueue accepts no namespace; {} selects all");
  }

  private void checksOnFlavors(JsonNode spec, JsonNode oldSpec, FieldErrors errors) {
    Set<String> flavors = flavors(spec);
    boolean tolerant =
        !settings.isOn(FeatureGate.REJECT_UPDATES_TO_CQ_WITH_INVALID_ON_FLAVORS)
            && flavors.equals(flavors(oldSpec));
    Set<String> before = tolerant ? pairs(oldSpec) : Set.of();
    List<JsonNode> checks = JsonFields.list(spec, "admissionChecksStrategy", "admissionChecks");
    for (int i = 0; i < checks.size(); i++) {
      List<String> names = JsonFields.texts(checks.get(i), "onFlavors");
      for (int j = 0; j < names.size(); j++) {
        String name = names.get(j);
        if (!flavors.contains(name) && !before.contains(pair(checks.get(i), name))) {
          errors.notSupported(CHECKS.index(i).child("onFlavors").index(j), name, flavors);
        }
      }
    }
  }

  /** The schema of v1beta1 takes any text. */
  private static void admissionMode(JsonNode spec, JsonNode oldSpec, FieldErrors errors) {
    JsonNode mode = JsonFields.at(spec, "admissionScope", "admissionMode");
    if (mode.isTextual()
        && !MODES.contains(mode.textValue())
        && !mode.equals(JsonFields.at(oldSpec, "admissionScope", "admissionMode"))) {
      errors.notSupported(
          SPEC.child("admissionScope").child("admissionMode"), mode.textValue(), MODES);
    }
  }

  private static Set<String> pairs(JsonNode spec) {
    Set<String> pairs = new HashSet<>();
    for (JsonNode check : JsonFields.list(spec, "admissionChecksStrategy", "admissionChecks")) {
      JsonFields.texts(check, "onFlavors").forEach(flavor -> pairs.add(pair(check, flavor)));
    }
    return pairs;
  }

  private static String pair(JsonNode check, String flavor) {
    return JsonFields.text(check, "name") + "/" + flavor;
  }

  private static Set<String> flavors(JsonNode spec) {
    Set<String> names = new HashSet<>();
    for (JsonNode group : JsonFields.list(spec, "resourceGroups")) {
      JsonFields.list(group, "flavors")
          .forEach(flavor -> names.add(JsonFields.text(flavor, "name")));
    }
    return names;
  }

  private static void concurrentAdmission(JsonNode spec, FieldErrors errors) {
    JsonNode policy = JsonFields.at(spec, "concurrentAdmissionPolicy");
    if (policy.isMissingNode()) {
      return;
    }
    int groups = JsonFields.list(spec, "resourceGroups").size();
    Set<String> flavors = flavors(spec);
    if (groups != 1) {
      errors.invalid(
          SPEC.child("resourceGroups"),
          String.valueOf(groups),
          "must be exactly one resource group with concurrentAdmissionPolicy");
    }
    if (flavors.size() > MAX_CONCURRENT_FLAVORS) {
      errors.tooMany(
          SPEC.child("resourceGroups"),
          flavors.size(),
          MAX_CONCURRENT_FLAVORS,
          "flavors with concurrentAdmissionPolicy");
    }
    if (JsonFields.text(spec, "queueingStrategy").equals("StrictFIFO")) {
      errors.invalid(
          SPEC.child("queueingStrategy"),
          "StrictFIFO",
          "must be BestEffortFIFO with concurrentAdmissionPolicy");
    }
    migration(JsonFields.at(policy, "migration"), flavors, errors);
  }

  private static void migration(JsonNode migration, Set<String> flavors, FieldErrors errors) {
    FieldPath constraints = POLICY.child("migration").child("constraints");
    if (JsonFields.isPresent(migration, "constraints")
        && !JsonFields.text(migration, "mode").equals("TryPreferredFlavors")) {
      errors.forbidden(constraints, "allowed only with mode TryPreferredFlavors");
    }
    String last = JsonFields.text(migration, "constraints", "lastAcceptableFlavorName");
    if (!last.isEmpty() && !flavors.contains(last)) {
      errors.notSupported(constraints.child("lastAcceptableFlavorName"), last, flavors);
    }
  }

  private static void policyStays(JsonNode spec, JsonNode oldSpec, FieldErrors errors) {
    JsonNode now = JsonFields.at(spec, "concurrentAdmissionPolicy");
    if (!now.equals(JsonFields.at(oldSpec, "concurrentAdmissionPolicy"))) {
      errors.immutable(POLICY, now, "");
    }
  }
}
